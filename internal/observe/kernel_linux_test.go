package observe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

var pageBytes = os.Getpagesize()

// record returns a record as the kernel would write it.
func record(kind uint32, first uint64, second uint32, more int) []byte {
	order := binary.NativeEndian
	b := order.AppendUint32(nil, kind)
	b = order.AppendUint16(b, 0)
	b = order.AppendUint16(b, uint16(recordSize+more))
	b = order.AppendUint64(b, first)
	b = order.AppendUint32(b, second)
	b = order.AppendUint32(b, 0)
	return append(b, make([]byte, more)...)
}

func TestRecordsAreReadAroundTheRingsEnd(t *testing.T) {
	stream := slices.Concat(
		record(unix.PERF_RECORD_SAMPLE, 7, 100, 0), record(unix.PERF_RECORD_SAMPLE, 8, 101, 8),
		record(unix.PERF_RECORD_LOST, 7, 3, 0), record(unix.PERF_RECORD_COMM, 1, 1, 16),
		record(unix.PERF_RECORD_SAMPLE, 7, 102, 0),
	)
	for begin := uint64(0); begin < 256; begin += 8 {
		data := make([]byte, 256)
		for i, b := range stream {
			data[(begin+uint64(i))%uint64(len(data))] = b
		}
		var got [][2]uint64
		end := begin + uint64(len(stream))
		lost := parseRecords(data, begin, end, func(event uint64, pid uint32) {
			got = append(got, [2]uint64{event, uint64(pid)})
		})
		if want := [][2]uint64{{7, 100}, {8, 101}, {7, 102}}; !slices.Equal(got, want) || !lost {
			t.Errorf("from %d: %v, lost %v", begin, got, lost)
		}
	}
}

// message returns a netlink message as the kernel would send it.
func message(sequence uint32, kind uint16, body []byte) []byte {
	order := binary.NativeEndian
	b := order.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	b = order.AppendUint16(b, kind)
	b = order.AppendUint16(b, 0)
	b = order.AppendUint32(b, sequence)
	b = order.AppendUint32(b, 0)
	return append(b, body...)
}

// connectionBody returns the body of an answer about one connection.
func connectionBody(family byte, from, to []byte, info []byte) []byte {
	b := make([]byte, diagAnswer)
	b[0], b[diagState] = family, tcpEstablished
	copy(b[diagSource:], from)
	copy(b[diagTarget:], to)
	binary.NativeEndian.PutUint64(b[diagCookie:], 99)
	binary.NativeEndian.PutUint32(b[diagInode:], 55)
	b = binary.NativeEndian.AppendUint16(b, 5)
	// Another attribute, of one byte with three bytes of padding.
	b = binary.NativeEndian.AppendUint16(b, 8)
	b = append(b, 1, 0, 0, 0)
	b = binary.NativeEndian.AppendUint16(b, uint16(4+len(info)))
	b = binary.NativeEndian.AppendUint16(b, diagInfo)
	return append(b, info...)
}

func TestConnectionsAreParsed(t *testing.T) {
	info := make([]byte, unix.SizeofTCPInfo)
	binary.NativeEndian.PutUint64(info[128:], 1000) // received
	binary.NativeEndian.PutUint64(info[200:], 700)  // sent
	binary.NativeEndian.PutUint64(info[208:], 50)   // retransmitted
	four := connectionBody(unix.AF_INET, []byte{127, 0, 0, 1}, []byte{10, 0, 0, 1}, info)
	mapped := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}
	six := connectionBody(unix.AF_INET6, mapped, append(slices.Clone(mapped[:15]), 2), info)
	answer := uint16(unix.SOCK_DIAG_BY_FAMILY)
	raw := slices.Concat(message(3, answer, four), message(2, answer, four),
		message(3, answer, six), message(3, unix.NLMSG_DONE, make([]byte, 4)))
	var got []socket
	done, err := parseMessages(raw, 3, func(s socket) { got = append(got, s) })
	want := []socket{
		{cookie: 99, inode: 55, sent: 650, received: 1000},
		{cookie: 99, inode: 55, local: true, sent: 650, received: 1000},
	}
	if !done || err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, %+v", done, err, got)
	}
	errno := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.EPERM)+1)
	refused := message(3, unix.NLMSG_ERROR, errno)
	if _, err := parseMessages(refused, 3, nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a refusal: %v", err)
	}
	old := message(3, answer, connectionBody(unix.AF_INET, nil, nil, info[:100]))
	if _, err := parseMessages(old, 3, nil); !errors.Is(err, errNoBytes) {
		t.Errorf("an old kernel: %v", err)
	}
	left := connectionBody(unix.AF_INET, nil, nil, nil)
	left[diagState] = tcpFinWait2
	unwanted := func(socket) { t.Error("a connection without an owner was counted") }
	if _, err := parseMessages(message(3, answer, left), 3, unwanted); err != nil {
		t.Errorf("a connection without an owner: %v", err)
	}
}

func FuzzMessages(f *testing.F) {
	info := make([]byte, unix.SizeofTCPInfo)
	body := connectionBody(unix.AF_INET, []byte{127, 0, 0, 1}, nil, info)
	f.Add(message(3, unix.SOCK_DIAG_BY_FAMILY, body))
	f.Add(message(3, unix.NLMSG_ERROR, []byte{1, 2, 3, 4}))
	f.Add(bytes.Repeat([]byte{0xff}, 80))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = parseMessages(raw, 3, func(socket) {})
	})
}

func TestSocketNames(t *testing.T) {
	for link, want := range map[string]uint32{
		"socket:[12345]": 12345, "socket:[x]": 0, "/dev/null": 0, "pipe:[1]": 0,
		"socket:[99999999999]": 0,
	} {
		if got, ok := socketInode(link); ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %d, %v", link, got, ok)
		}
	}
}
