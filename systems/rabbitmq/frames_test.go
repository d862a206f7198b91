package rabbitmq

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// Frames that a server sends on a channel.

func methodOf(channel uint16, id uint32, rest ...byte) []byte {
	return appendFrame(nil, methodFrame, channel,
		append(binary.BigEndian.AppendUint32(nil, id), rest...))
}

func deliver(channel uint16, tag uint64) []byte {
	rest := appendShort(nil, "consumer")
	rest = append(binary.BigEndian.AppendUint64(rest, tag), 0)
	return methodOf(channel, basicDeliver, appendShort(appendShort(rest, "exchange"), "key")...)
}

func headerOf(channel uint16, size uint64) []byte {
	b := binary.BigEndian.AppendUint64([]byte{0, basicClass, 0, 0}, size)
	return appendFrame(nil, headerFrame, channel, append(b, 0, 0))
}

func bodyOf(channel uint16, part string) []byte {
	return appendFrame(nil, bodyFrame, channel, []byte(part))
}

func confirmOf(channel uint16, id uint32, tag uint64, multiple byte) []byte {
	b := settlement(id, tag, multiple)
	return appendFrame(nil, methodFrame, channel, b[:])
}

func join(all ...[]byte) []byte { return bytes.Join(all, nil) }

// A message is published as a method, a header with the properties, and a body in frames of at most
// the size that was negotiated.
func TestMessageIsFramed(t *testing.T) {
	to := newTemplate("ex", route{headers: map[string]int32{"partition": 7}}, 2)
	got := appendMessage(nil, 5, &to, "id", []byte("body"), frameRest+3)
	want := "\x01\x00\x05\x00\x00\x00\x0b" + "\x00\x3c\x00\x28" + "\x00\x00" + "\x02ex" + "\x00" +
		"\x01" + "\xce" +
		"\x02\x00\x05\x00\x00\x00\x25" + "\x00\x3c\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x04" +
		"\x34\x00" + "\x00\x00\x00\x0f" + "\x09partition" + "I\x00\x00\x00\x07" + "\x02" +
		"\x02id" + "\xce" +
		"\x03\x00\x05\x00\x00\x00\x03bod\xce" + "\x03\x00\x05\x00\x00\x00\x01y\xce"
	if string(got) != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	keyed := newTemplate("ex", route{key: "k"}, 1)
	got = appendMessage(nil, 1, &keyed, "", nil, frameMost)
	want = "\x01\x00\x01\x00\x00\x00\x0c\x00\x3c\x00\x28\x00\x00\x02ex\x01k\x01\xce" +
		"\x02\x00\x01\x00\x00\x00\x10\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x01\x00\xce"
	if string(got) != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// Frames are found wherever the network cuts them.
func TestFramesAreFoundInPieces(t *testing.T) {
	large := strings.Repeat("x", 3*readBuffer)
	sent := join(bodyOf(1, "a"), bodyOf(2, large), bodyOf(3, ""), bodyOf(4, "b"))
	for name, from := range map[string]io.Reader{
		"whole": bytes.NewReader(sent), "bytes": iotest.OneByteReader(bytes.NewReader(sent)),
		"with the error": iotest.DataErrReader(bytes.NewReader(sent)),
	} {
		r := frames{from: from, wait: func() {}}
		for i, want := range []string{"a", large, "", "b"} {
			f, err := r.next(frameMost)
			if err != nil || f.kind() != bodyFrame || f.channel() != uint16(i+1) ||
				string(f.payload()) != want {
				t.Errorf("%s: frame %d: %.20q, %v", name, i, f, err)
			}
		}
		if _, err := r.next(frameMost); err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is no frame, and what no server may send, ends the connection.
func TestBadFramesAreRefused(t *testing.T) {
	ending := bodyOf(1, "a")
	ending[len(ending)-1] = 0
	for _, c := range []struct {
		name string
		sent []byte
		want string
	}{
		{"another protocol", []byte("HTTP/1.1 400 Bad Request"), "no frame of AMQP 0.9.1"},
		{"too large", appendHead(nil, bodyFrame, 1, 1000-frameRest+1), "at most 1000"},
		{"another end", ending, "ends with 0x00"},
		{"a cut delivery", methodOf(1, basicDeliver, 3, 'a'), "within a field"},
		{"a cut confirm", methodOf(2, basicAck, 0, 0, 0, 0, 0, 0, 0, 1), "within a field"},
		{"a cut header", join(deliver(1, 1), appendFrame(nil, headerFrame, 1, []byte{0, 60})),
			"within a field"},
		{"a body without a header", join(deliver(1, 1), bodyOf(1, "a")), "of type 3 within"},
		{"a method in a message", join(deliver(1, 1), headerOf(1, 2), deliver(1, 2)),
			"of type 1 within"},
		{"a longer body", join(deliver(1, 1), headerOf(1, 2), bodyOf(1, "abc")),
			"3 bytes of a message of which 2"},
		{"a huge body", join(deliver(1, 1), headerOf(1, bodyMost+1)), "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := scripted(c.sent)
			w.agree(time.Second, 1000)
			w.have(1, events{delivered: func(uint64, []byte) { t.Error("delivered") }})
			w.have(2, events{confirmed: func(uint64, bool, bool) { t.Error("confirmed") }})
			if _, err := io.ReadAll(w); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// Whatever a server sends: what is handed out was sent, and the library gets whole frames.
func FuzzRead(f *testing.F) {
	f.Add(join(deliver(1, 1), headerOf(1, 3), bodyOf(1, "ab"), bodyOf(1, "c")))
	f.Add(join(confirmOf(2, basicAck, 9, 1), methodOf(2, 60<<16|50, 1), headerOf(2, 0)))
	f.Add(join(deliver(3, 1), methodOf(1, channelClose), []byte("\x08\x00\x00\x00\x00\x00\x00\xce")))
	f.Add([]byte("AMQP\x00\x00\x09\x01"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		w := scripted(sent)
		delivered := 0
		w.have(1, events{delivered: func(_ uint64, body []byte) { delivered += len(body) }})
		w.have(2, events{confirmed: func(uint64, bool, bool) {}})
		passed, err := io.ReadAll(w)
		if delivered+len(passed) > len(sent) {
			t.Errorf("%d bytes became %d of messages and %d of frames", len(sent), delivered,
				len(passed))
		}
		rest := frames{from: bytes.NewReader(passed), wait: func() {}}
		for {
			if _, bad := rest.next(frameMost); bad != nil {
				if bad != io.EOF || rest.begin != rest.end {
					t.Errorf("the library got %q after %v: %v", passed, err, bad)
				}
				return
			}
		}
	})
}
