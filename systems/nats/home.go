package nats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
)

// home says where a topic's messages are: in its own stream, or under some subjects of a shared
// stream.
type home struct {
	stream string
	prefix string // of the topic's subjects
	number string // of the topic in a shared stream; "": it has its own
}

// homeOf derives a topic's home from its name alone, so that every connection finds the same one.
// Only numbered topics, like all topics of a run, share streams: <name>-<n>.
func homeOf(s system.Settings, topic string) home {
	each, cut := uint64(s.Count(setTopicsPerStream)), strings.LastIndexByte(topic, '-')
	if each <= 1 || cut <= 0 {
		return ownHome(topic)
	}
	number := topic[cut+1:]
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != number {
		return ownHome(topic)
	}
	stream := safeName(topic[:cut]) + "-shared-" + strconv.FormatUint(n/each, 10)
	return home{stream: stream, prefix: stream + "." + number, number: number}
}

func ownHome(topic string) home {
	name := safeName(topic)
	return home{stream: name, prefix: name}
}

func (h home) shared() bool { return h.number != "" }

// all returns the subjects of the stream as one pattern, because each listed subject costs the
// servers at every change.
func (h home) all() string {
	if h.shared() {
		return h.stream + ".*.*"
	}
	return h.stream + ".*"
}

// filter returns the subjects of the topic; "": the whole stream.
func (h home) filter() string {
	if h.shared() {
		return h.prefix + ".*"
	}
	return ""
}

// subject returns the subject of one partition.
func (h home) subject(partition int) string { return h.prefix + "." + strconv.Itoa(partition) }

// partitionOf returns the partition of a subject made by home.subject, or -1 for other subjects.
func partitionOf(subject string) int32 {
	n, err := strconv.ParseUint(subject[strings.LastIndexByte(subject, '.')+1:], 10, 31)
	if err != nil {
		return -1
	}
	return int32(n)
}

// durable returns the name of a subscription's durable consumer.
func (h home) durable(subscription string) string {
	if h.shared() {
		return safeName(h.number + "-" + subscription)
	}
	return safeName(subscription)
}

// sharing tracks the streams that topics share. All topics of a stream are created and deleted
// through one connection. Its methods may be called from any goroutine. The zero value is empty.
type sharing struct {
	mu      sync.Mutex
	streams map[string]*sharedStream
}

type sharedStream struct {
	turn   chan struct{} // holds a token while the stream is not being created or deleted
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
		return nil, fmt.Errorf("wait for stream %s, which topics share: %w", h.stream, ctx.Err())
	}
}

// join adds a topic to its stream. For the first topic, create creates the stream.
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

// leave removes a topic from its stream. For the last topic, remove deletes the stream.
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
			"it was not created by this connection: delete stream %s, which it shares",
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
