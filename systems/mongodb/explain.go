package mongodb

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/description"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	kit "github.com/plimsoll-bench/plimsoll/system/driver"
)

// Codes of the server's answers.
const (
	codeBadValue        = 2
	codeFailedToParse   = 9
	codeUnauthorized    = 13
	codeLoginFailed     = 18
	codeCommandNotFound = 59
	codeInvalidName     = 73
	codeValidation      = 121
	codeTooLarge        = 10334
	codeDuplicateKey    = 11000
	codeObjectTooLarge  = 17280
)

// refusals are the error codes that say that a server has written nothing of a batch.
var refusals = map[int32]bool{
	codeBadValue: true, codeFailedToParse: true, codeUnauthorized: true,
	codeInvalidName: true, codeTooLarge: true,
}

// explain returns an error that says in one sentence why no server can be reached.
func (c *cluster) explain(err error) error {
	err = plain(err)
	peer := kit.Peer{
		Endpoints: c.options.Endpoints, Protocol: "MongoDB", Encrypted: c.options.TLS != nil,
		Advertises: true,
	}
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		return explainSelection(peer, selection)
	}
	if told := explainAnswer(peer, err); told != nil {
		return told
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	if hungUp(err) {
		return peer.HungUp(err)
	}
	return err
}

// plain returns the innermost error of a connection, because the library's wrapping repeats it. It
// returns other errors unchanged.
func plain(err error) error {
	var connection topology.ConnectionError
	var answer driver.Error
	answered := errors.As(err, &answer) && answer.Code != 0
	if errors.As(err, &connection) && !answered {
		return connection
	}
	return err
}

// isCleared reports whether a connection was closed because another one could not be opened. The
// error lacks the cause; that of the next attempt has it.
func isCleared(err error) bool {
	var pool driver.RetryablePoolError
	return errors.As(err, &pool) && pool.Retryable()
}

// explainAnswer explains a server's answer. It returns nil for other errors.
func explainAnswer(peer kit.Peer, err error) error {
	var answer driver.Error
	var outer mongo.CommandError
	switch {
	case errors.As(err, &answer):
	case errors.As(err, &outer):
		answer = driver.Error{Code: outer.Code, Message: outer.Message}
	default:
		return nil
	}
	switch {
	case answer.Code == codeLoginFailed:
		return peer.RefusesLogin(err, " and the setting "+setAuthSource)
	case answer.Code == codeUnauthorized:
		return fmt.Errorf("the user lacks rights at %s that a run needs: give the target "+
			"credentials, or the user the role readWrite of the database: %w", peer.At(), err)
	case answer.Code == codeCommandNotFound && strings.Contains(answer.Message, "sasl"):
		return fmt.Errorf("%s has no login: remove the credentials from the target: %w",
			peer.At(), err)
	}
	return nil
}

// hungUp reports whether a server ended a connection, or answered in another protocol.
func hungUp(err error) bool {
	return kit.Broken(err) || strings.Contains(err.Error(), "malformed message length") ||
		strings.Contains(err.Error(), "length of read message too")
}

// explainSelection explains why the library found no primary. It reads the last error of
// each server, which the library's own error only prints.
func explainSelection(peer kit.Peer, err topology.ServerSelectionError) error {
	if reason := err.Desc.CompatibilityErr; reason != nil {
		return fmt.Errorf("%s cannot be used with this client library: take another version "+
			"of the server: %w", peer.At(), reason)
	}
	secondary := ""
	for _, s := range err.Desc.Servers {
		if s.Kind == description.ServerKindRSSecondary {
			secondary = string(s.Addr)
		}
	}
	if secondary != "" {
		return fmt.Errorf("%s is a read-only secondary, and its replica set has no primary "+
			"that can be reached: start a majority of the members, and check the addresses in "+
			"rs.conf()", secondary)
	}
	for _, s := range err.Desc.Servers {
		if s.LastError == nil {
			continue
		}
		if told := explainAnswer(peer, s.LastError); told != nil {
			return told
		}
		if hungUp(plain(s.LastError)) {
			return peer.HungUp(plain(s.LastError))
		}
		if told := peer.Explain(plain(s.LastError)); told != nil {
			return told
		}
		return fmt.Errorf("%s cannot be used: %w", peer.At(), plain(s.LastError))
	}
	if len(err.Desc.Servers) == 0 {
		return fmt.Errorf("%s: no endpoint is a member of a replica set: name one server, or the "+
			"members of one set", peer.At())
	}
	return peer.Silent(err.Wrapped)
}

// unsent reports whether a command reached no server: none was found, or none accepted a
// connection.
func unsent(err error) bool {
	var selection topology.ServerSelectionError
	var queue topology.WaitQueueTimeoutError
	var pool driver.RetryablePoolError
	var connection topology.ConnectionError
	return errors.As(err, &selection) || errors.As(err, &queue) ||
		errors.As(err, &pool) && pool.Retryable() ||
		errors.As(err, &connection) && strings.Contains(connection.Error(), "handshake")
}
