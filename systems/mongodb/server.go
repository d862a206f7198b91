package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Kinds of servers.
const (
	kindMongod = "mongod"
	kindMongos = "mongos"
	kindJava   = "mongo-java-server"
	kindFerret = "FerretDB"
)

// server describes a server by its own answers.
type server struct {
	kind      string
	version   string // its own; empty: unknown
	announces string // the version of MongoDB that it claims to be
	set       string // the replica set; empty: none
	primary   string // of the replica set, known to this server; empty: none
	maxBytes  int    // of a document
}

// String returns the kind and the version.
func (s server) String() string {
	if s.kind == kindMongod {
		return s.kind + " " + s.version
	}
	name := s.kind
	if s.version != "" {
		name += " " + s.version
	}
	return fmt.Sprintf("%s (not MongoDB; it announces version %s)", name, s.announces)
}

// helloAnswer is the answer to hello.
type helloAnswer struct {
	Set      string `bson:"setName"`
	Primary  string `bson:"primary"`
	Message  string `bson:"msg"`
	MaxBytes int    `bson:"maxBsonObjectSize"`
}

// buildAnswer is the answer to buildInfo.
type buildAnswer struct {
	Version string `bson:"version"`
	Git     string `bson:"gitVersion"`
	Ferret  string `bson:"ferretdbVersion"`
}

// run runs a command that changes nothing, on the database admin.
func run(ctx context.Context, client *mongo.Client, command string, into any) error {
	return client.Database("admin").RunCommand(ctx, bson.D{{Key: command, Value: 1}}).Decode(into)
}

// identify asks a server for its kind and version.
func identify(ctx context.Context, client *mongo.Client) (server, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var hello helloAnswer
	err := run(ctx, client, "hello", &hello)
	var answer mongo.CommandError
	if errors.As(err, &answer) && answer.Code == codeCommandNotFound {
		err = run(ctx, client, "isMaster", &hello)
	}
	var build buildAnswer
	if err == nil {
		err = run(ctx, client, "buildInfo", &build)
	}
	if err != nil {
		return server{}, err
	}
	return serverOf(hello, build), nil
}

// serverOf recognises the kind of a server. Only MongoDB's own servers name their git commit, and
// FerretDB names itself.
func serverOf(hello helloAnswer, build buildAnswer) server {
	s := server{
		kind: kindMongod, version: build.Version, announces: build.Version,
		set: hello.Set, primary: hello.Primary, maxBytes: hello.MaxBytes,
	}
	switch {
	case build.Ferret != "":
		s.kind, s.version = kindFerret, build.Ferret
	case hello.Message == "isdbgrid":
		s.kind = kindMongos
	case build.Git == "":
		s.kind, s.version = kindJava, ""
	}
	return s
}

// gives returns the reason why the server cannot give a level, or nil.
func (s server) gives(l workload.Level) error {
	switch {
	case s.kind == kindMongos:
		return errors.New("the endpoints are mongos, a router to several replica sets: name " +
			"the members of one replica set")
	case s.kind != kindMongod && l != workload.AsyncAsync:
		return fmt.Errorf("durability level %d needs MongoDB's own server, and this is %s, "+
			"which accepts every write concern and honours none: take level 4, or name a "+
			"replica set of mongod", l, s)
	case s.set == "" && l.Majority():
		return fmt.Errorf("durability level %d needs a replica set, and this mongod is not a "+
			"member of one: take level 3 or 4, or name the members of a replica set", l)
	}
	return nil
}
