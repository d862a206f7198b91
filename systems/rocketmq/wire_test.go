package rocketmq

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// A frame is read as it was written, and one that is cut anywhere is an error.
func TestFrames(t *testing.T) {
	whole, err := encode(&frame{Code: askPull, Opaque: 7, Flag: flagAnswer, Remark: "r",
		Fields: fields{"a": "b\n\""}, body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFrame(bytes.NewReader(whole))
	if err != nil || f.Code != askPull || f.Opaque != 7 || f.Fields["a"] != "b\n\"" ||
		string(f.body) != "body" {
		t.Errorf("%+v, %v", f, err)
	}
	for n := range whole {
		if _, err := readFrame(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d of %d bytes are a frame", n, len(whole))
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	whole, err := encode(&frame{Code: 1, Fields: fields{"a": "b"}, body: []byte("c")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("\x7f\xff\xff\xff\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x03\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x06\x01\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readFrame(bytes.NewReader(b))
		if err == nil && len(got.body) > len(b) {
			t.Errorf("%d bytes have a body of %d", len(b), len(got.body))
		}
	})
}

// asStored returns a message as a broker stores it.
func asStored(payload, properties, topic string, v6 bool) []byte {
	host, flags := hostV4, uint32(0)
	if v6 {
		host, flags = hostV6, bornV6|storedV6
	}
	b := make([]byte, beforeSysFlag+afterSysFlag+2*host+afterBorn+afterStored)
	binary.BigEndian.PutUint64(b[offsetAt:], 42)
	binary.BigEndian.PutUint32(b[beforeSysFlag:], flags)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	b = append(append(b, byte(len(topic))), topic...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(properties)))
	b = append(b, properties...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

func TestStoredMessages(t *testing.T) {
	batch := appendBatched(nil, []byte("p"), []byte("\x00\x01\x02\xff"))
	properties := string(batch[batchedOverhead+1:])
	for _, v6 := range []bool{false, true} {
		raw := asStored("payload", "OTHER\x01x\x02"+properties, "topic", v6)
		m, rest, err := readStored(append(raw, "rest"...))
		if err != nil || m.offset != 42 || string(m.payload) != "payload" ||
			string(m.key) != "\x00\x01\x02\xff" || string(rest) != "rest" {
			t.Errorf("IPv6 %t: %+v, %q, %v", v6, m, rest, err)
		}
		for n := range raw {
			if _, _, err := readStored(raw[:n]); err == nil {
				t.Errorf("%d of %d bytes are a message", n, len(raw))
			}
		}
	}
	m, _, err := readStored(asStored("", "", "t", false))
	if err != nil || m.key != nil || len(m.payload) != 0 {
		t.Errorf("an empty message: %+v, %v", m, err)
	}
}

func FuzzReadStored(f *testing.F) {
	f.Add(asStored("payload", "plimsoll-key\x01AAEC\x02", "topic", false))
	f.Add(asStored("payload", "", "topic", true))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, rest, err := readStored(b)
		if err == nil && len(rest)+len(m.payload) > len(b) {
			t.Errorf("%d bytes have a payload of %d and a rest of %d", len(b), len(m.payload),
				len(rest))
		}
	})
}

func TestStandardJSON(t *testing.T) {
	got := string(standardJSON([]byte(`{"a":{0:"127.0.0.1:10911",1:"h:2"},"b":3}`)))
	if want := `{"a":{"0":"127.0.0.1:10911","1":"h:2"},"b":3}`; got != want {
		t.Errorf("got %s", got)
	}
}

// The signature is that of the vendor's clients: of the values in the order of their names.
func TestSignature(t *testing.T) {
	k := &conn{login: system.Credentials{User: "user", Password: "secret"}}
	signed := k.sign(fields{"b": "2", "a": "1"}, []byte("body"))
	if signed["AccessKey"] != "user" || signed["Signature"] != "4oDhQOx89bp8l5DFSd7nwmE18Qs=" {
		t.Errorf("got %v", signed)
	}
	if got := (&conn{}).sign(nil, nil); got != nil {
		t.Errorf("without a user: %v", got)
	}
}

// piped returns a connection and the server's end of it.
func piped(t *testing.T) (*conn, net.Conn) {
	ours, theirs := net.Pipe()
	k := &conn{raw: ours, done: make(chan struct{}), waiting: make(map[int32]chan frame)}
	go k.read()
	t.Cleanup(func() { _ = k.close(); _ = theirs.Close() })
	return k, theirs
}

// answer reads a request and answers it.
func answer(t *testing.T, server net.Conn, code int) {
	f, err := readFrame(server)
	if err != nil {
		t.Error(err)
		return
	}
	f.Code, f.Flag, f.Remark = code, flagAnswer, "because\nof this"
	raw, err := encode(&f)
	if err == nil {
		_, err = server.Write(raw)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, server := piped(t)
		go answer(t, server, saysSlaveTimeout)
		_, err := k.ask(t.Context(), askPull, nil, nil)
		if !says(err, saysSlaveTimeout) || err.Error() != "because (code 12)" {
			t.Errorf("a refusal: %v", err)
		}
		silent := make(chan struct{})
		go func() { _, _ = io.CopyN(io.Discard, server, 8); close(silent) }()
		began := time.Now()
		_, err = k.ask(t.Context(), askPull, nil, nil)
		if err == nil || time.Since(began) != askWithin {
			t.Errorf("a silent server: %v after %s", err, time.Since(began))
		}
		<-silent
		k.cut()
		if _, err = k.ask(t.Context(), askPull, nil, nil); err == nil {
			t.Error("a connection that is cut carries a request")
		}
		<-k.done
		if _, err = k.begin(askPull, nil, nil); !errors.Is(err, errUnsent) {
			t.Errorf("a connection that has ended: %v", err)
		}
	})
}

// What a broker has not received is told apart from what it may have stored.
func TestOutcomes(t *testing.T) {
	s := &sender{of: &producer{of: &cluster{}}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err             error
		life            context.Context
		unsent, unknown bool
	}{
		{errUnsent, t.Context(), true, false},
		{&refusal{code: saysUnavailable}, t.Context(), true, false},
		{&refusal{code: saysBusy}, t.Context(), true, false},
		{&refusal{code: saysNoTopic}, t.Context(), false, false},
		{&refusal{code: saysError}, t.Context(), false, true},
		{&refusal{code: saysFlushTimeout}, t.Context(), false, true},
		{&refusal{code: saysNoSlave}, t.Context(), false, true},
		{&refusal{code: saysSlaveTimeout}, t.Context(), false, true},
		{errLost, t.Context(), false, true},
		{errLost, ended, false, true},
		{context.DeadlineExceeded, t.Context(), false, true},
	} {
		got := s.outcome(c.life, c.err)
		if got == nil || errors.Is(got, system.ErrUnknown) != c.unknown ||
			unsent(c.err) != c.unsent {
			t.Errorf("%v: %v, unsent %t", c.err, got, unsent(c.err))
		}
	}
	if err := s.outcome(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
