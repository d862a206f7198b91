package nats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// home is where a topic's messages are: in a stream of its own, or under some of the subjects of a
// stream that it shares with other topics.
type home struct {
	stream string
	prefix string // of the topic's subjects
	number string // of the topic, where it shares the stream; "": it does not
}

// homeOf says where a topic is, by its name alone, so that every connection
// comes to the same answer. Only topics that are numbered, as all of a run are,
// share streams: <name>-<n>.
func (c config) homeOf(topic string) home {
	cut := strings.LastIndexByte(topic, '-')
	if c.topicsPerStream <= 1 || cut <= 0 {
		return ownHome(topic)
	}
	number := topic[cut+1:]
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != number {
		return ownHome(topic)
	}
	stream := safeName(topic[:cut]) + "-shared-" +
		strconv.FormatUint(n/uint64(c.topicsPerStream), 10)
	return home{stream: stream, prefix: stream + "." + number, number: number}
}

func ownHome(topic string) home {
	name := safeName(topic)
	return home{stream: name, prefix: name}
}

func (h home) shared() bool { return h.number != "" }

// all is the subjects of the stream, however many partitions and topics: each
// that is listed costs the servers at every change.
func (h home) all() string {
	if h.shared() {
		return h.stream + ".*.*"
	}
	return h.stream + ".*"
}

// filter is the subjects of the topic; "": all of the stream.
func (h home) filter() string {
	if h.shared() {
		return h.prefix + ".*"
	}
	return ""
}

// subject is the subject of one partition.
func (h home) subject(partition int) string { return h.prefix + "." + strconv.Itoa(partition) }

// partitionOf is the partition of a subject that home.subject made; -1: it made none
// such.
func partitionOf(subject string) int32 {
	n, err := strconv.ParseUint(subject[strings.LastIndexByte(subject, '.')+1:], 10, 31)
	if err != nil {
		return -1
	}
	return int32(n)
}

// durable names the durable consumer that is a subscription.
func (h home) durable(subscription string) string {
	if h.shared() {
		return safeName(h.number + "-" + subscription)
	}
	return safeName(subscription)
}

// sharing is the streams that topics share. The topics of one are made and
// deleted through one connection, which knows of them here. Its methods may be
// called from any goroutine. The zero value knows of none.
type sharing struct {
	mu      sync.Mutex
	streams map[string]*sharedStream
}

type sharedStream struct {
	turn   chan struct{} // holds a token while nobody makes or deletes the stream
	made   bool
	topics map[string]bool // by number; false: deleted
}

// take waits for the stream's token.
func (s *sharing) take(ctx context.Context, h home) (*sharedStream, error) {
	s.mu.Lock()
	of := s.streams[h.stream]
	if of == nil {
		of = &sharedStream{turn: make(chan struct{}, 1), topics: make(map[string]bool)}
		of.turn <- struct{}{}
		if s.streams == nil {
			s.streams = make(map[string]*sharedStream)
		}
		s.streams[h.stream] = of
	}
	s.mu.Unlock()
	select {
	case <-of.turn:
		return of, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for stream %s, which topics share: %w", h.stream, ctx.Err())
	}
}

// join adds a topic to its stream, which create makes for the first of them.
func (s *sharing) join(ctx context.Context, h home, create func() error) error {
	of, err := s.take(ctx, h)
	if err != nil {
		return err
	}
	defer func() { of.turn <- struct{}{} }()
	if lives, known := of.topics[h.number]; known {
		if lives {
			return fmt.Errorf("it is in stream %s already: choose another name or delete it",
				h.stream)
		}
		return fmt.Errorf(
			"it was deleted, and its messages are in stream %s until that stream's last topic "+
				"goes: choose another name", h.stream)
	}
	if !of.made {
		if err := create(); err != nil {
			return err
		}
		of.made = true
	}
	of.topics[h.number] = true
	return nil
}

// leave takes a topic out of its stream, which remove deletes with the last of
// them.
func (s *sharing) leave(ctx context.Context, h home, remove func() error) error {
	of, err := s.take(ctx, h)
	if err != nil {
		return err
	}
	defer func() { of.turn <- struct{}{} }()
	lives, known := of.topics[h.number]
	switch {
	case !known:
		return fmt.Errorf(
			"it was not made through this connection: delete stream %s, which has it and others",
			h.stream)
	case !lives:
		return nil
	}
	of.topics[h.number] = false
	for _, lives := range of.topics {
		if lives {
			return nil
		}
	}
	if err := remove(); err != nil {
		of.topics[h.number] = true
		return err
	}
	of.made, of.topics = false, make(map[string]bool)
	return nil
}
