package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
)

var errDeleted = errors.New("the durable consumer was deleted")

// The server's status codes of a pull request.
const (
	statusHeartbeat  = "100"
	statusBadRequest = "400"
	statusNoMessages = "404"
	statusTimeout    = "408"
	statusConflict   = "409"
)

// statusOf returns the status code of a status message, or "" for an ordinary message.
func statusOf(m *nats.Msg) string {
	if len(m.Data) > 0 || len(m.Header) == 0 {
		return ""
	}
	return m.Header.Get("Status")
}

// asked tracks one consumer's open pull requests. It is not safe for concurrent use.
type asked struct {
	conn    *nats.Conn
	inbox   string
	subject string
	look    string // the subject of requests about the durable consumer
	request []byte // requests unit messages
	most    int    // messages that may be requested at a time
	unit    int    // messages of one request: half of the most that may be requested
	left    int    // messages that may still arrive
	last    time.Time
	spoke   time.Time // when the server was last heard
	// doubt says that the durable consumer may not exist: no server answered for it. A deletion is
	// announced only to requests that are open at that moment.
	doubt  bool
	absent int // successive answers that it does not exist

	expires, heartbeat time.Duration // of a request
}

// certain is the number of successive answers that prove that a durable consumer does not exist.
// One could come from a new leader that is still reading its log.
const certain = 2

func newAsked(conn *nats.Conn, stream, durable string, s system.Settings) asked {
	most := int(s.Count(setPullMaxMessages))
	unit := (most + 1) / 2
	expires, heartbeat := s.Duration(setPullExpires), s.Duration(setPullHeartbeat)
	return asked{
		conn: conn, inbox: conn.NewInbox(),
		subject: "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + durable,
		look:    "$JS.API.CONSUMER.INFO." + stream + "." + durable,
		request: fmt.Appendf(nil, `{"batch":%d,"expires":%d,"idle_heartbeat":%d}`,
			unit, expires.Nanoseconds(), heartbeat.Nanoseconds()),
		most: most, unit: unit, expires: expires, heartbeat: heartbeat,
	}
}

// more sends a request.
func (a *asked) more() error {
	if err := a.conn.PublishRequest(a.subject, a.inbox, a.request); err != nil {
		return fmt.Errorf("ask for messages: %w", err)
	}
	a.left += a.unit
	a.last = time.Now()
	if a.left == a.unit {
		a.spoke = a.last // silence counts from the first request on
	}
	return nil
}

// lookUp asks whether the durable consumer exists, if that is in doubt.
func (a *asked) lookUp() error {
	if !a.doubt {
		return nil
	}
	return a.conn.PublishRequest(a.look, a.inbox, nil)
}

// looked handles the answer of lookUp, and reports whether the durable consumer was deleted.
func (a *asked) looked(answer []byte) (deleted bool) {
	var info struct {
		Error *jetstream.APIError `json:"error"`
	}
	if json.Unmarshal(answer, &info) != nil {
		return false // the next tick asks again
	}
	switch {
	case info.Error == nil:
		a.absent = 0
	case info.Error.ErrorCode == jetstream.JSErrCodeConsumerNotFound,
		info.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		a.absent++
	}
	return a.absent >= certain
}

// room reports whether another request stays within the most that may be requested.
func (a *asked) room() bool { return a.left+a.unit <= a.most || a.left == 0 }

// due reports whether half of the newest request's time is over: the next request must arrive
// before it expires, or a message would wait for it.
func (a *asked) due() bool { return a.room() && time.Since(a.last) >= a.expires/2 }

// came counts messages that arrived, or that never will.
func (a *asked) came(n int) {
	a.left = max(a.left-n, 0)
	a.served()
}

// served notes that the durable consumer's leader answered.
func (a *asked) served() {
	a.heard()
	a.doubt, a.absent = false, 0
}

func (a *asked) heard() { a.spoke = time.Now() }

// silent reports whether the server missed two heartbeats.
func (a *asked) silent() bool { return a.left > 0 && time.Since(a.spoke) > 2*a.heartbeat }

// forget drops all requests, which no server serves.
func (a *asked) forget() { a.left, a.doubt = 0, true }

// status handles the status of a request. An error means that no more messages will arrive.
func (a *asked) status(code string, m *nats.Msg) error {
	a.heard()
	switch code {
	case statusHeartbeat:
		a.served()
	case statusTimeout, statusNoMessages:
		pending, _ := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		a.came(pending)
	case statusBadRequest:
		return fmt.Errorf("the server refuses the request: %s", m.Header.Get("Description"))
	case statusConflict:
		a.forget()
		if what := m.Header.Get("Description"); strings.EqualFold(what, "consumer deleted") {
			return errDeleted
		}
	default: // the durable consumer has no leader now, or moves
		a.forget()
	}
	return nil
}
