package systems

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/activemq"
	"github.com/plimsoll-bench/plimsoll/systems/artemis"
	"github.com/plimsoll-bench/plimsoll/systems/eventstore"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
	"github.com/plimsoll-bench/plimsoll/systems/mongodb"
	"github.com/plimsoll-bench/plimsoll/systems/mqtt"
	"github.com/plimsoll-bench/plimsoll/systems/nats"
	"github.com/plimsoll-bench/plimsoll/systems/nsq"
	"github.com/plimsoll-bench/plimsoll/systems/postgres"
	"github.com/plimsoll-bench/plimsoll/systems/pulsar"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
	"github.com/plimsoll-bench/plimsoll/systems/redis"
	"github.com/plimsoll-bench/plimsoll/systems/rocketmq"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/systems/sqs"
)

// Default is the system that is measured when no target is named.
const Default = "nats"

// added are the systems that Add was given.
var added []system.System

// Add adds a system that is no part of plimsoll. It is called by the init function of the package
// that has the system, or before command.Main.
func Add(s system.System) { added = append(added, s) }

// All returns every system.
func All() []system.System {
	return append([]system.System{
		kafka.New(),
		pulsar.New(),
		rabbitmq.New(),
		postgres.New(),
		redis.New(),
		rocketmq.New(),
		eventstore.New(),
		sqs.New(),
		mongodb.New(),
		artemis.New(),
		activemq.New(),
		nsq.New(),
		mqtt.New(),
		nats.New(),
		sim.New(clock.Precise(), nil),
	}, added...)
}

// Registry returns all systems by name.
func Registry() *system.Registry { return system.NewRegistry(All()...) }
