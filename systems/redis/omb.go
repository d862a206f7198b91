package redis

import (
	"net"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// OMB says how to translate OMB's driver of Redis Streams.
func (redisSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "Redis",
		Drivers: map[string]func(*omb.DriverFile){"redis.RedisBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{
			{Driver: "redis", Note: "the end-to-end latency of OMB's Redis driver begins at the " +
				"broker's clock, in whole milliseconds: it leaves out the way to the broker"},
			{Driver: "redis", Note: "OMB's Redis driver sends one message at a time on each of " +
				"up to 8 connections, so that it is a closed loop whose rate the system sets, " +
				"and it never acknowledges what it received"},
		},
	}
}

type ombFile struct {
	omb.Head
	Host     string `yaml:"redisHost"`
	Port     int64  `yaml:"redisPort"`
	User     string `yaml:"redisUser"`
	Password string `yaml:"redisPass"`
	MaxTotal int64  `yaml:"jedisPoolMaxTotal"`
	MaxIdle  int64  `yaml:"jedisPoolMaxIdle"`
}

func translateOMB(d *omb.DriverFile) {
	f := ombFile{Port: clientPort}
	if !d.Decode(&f) {
		return
	}
	if f.Host != "" {
		d.Endpoint(net.JoinHostPort(f.Host, strconv.FormatInt(f.Port, 10)))
	}
	if f.Host == "" && d.Has("redisPort") {
		d.Note("redisPort is left out: there is no redisHost")
	}
	if f.Password != "" {
		d.Secret("redisPass", f.User != "")
	} else if f.User != "" {
		d.Note("redisUser is left out: there is no redisPass")
	}
	d.SetLevel(workload.AsyncAsync,
		"OMB's driver waits for the answer to XADD, and not for replicas")
	d.Note("the servers' syncing is not in a driver file: with appendfsync always it is level "+
		"%d, and without an append-only file it is none", workload.AsyncSync)
	if d.Has("jedisPoolMaxTotal") || d.Has("jedisPoolMaxIdle") {
		d.Note("jedisPoolMaxTotal and jedisPoolMaxIdle mean nothing here: each producer and each " +
			"consumer has a connection of its own")
	}
}
