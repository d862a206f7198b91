package observe

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is a buffer for the kernel's records, with a control page before it; see
// perf_event_open(2).
type ring struct {
	memory []byte
	page   *unix.PerfEventMmapPage
	data   []byte
}

func newRing(fd, size int) (ring, error) {
	memory, err := unix.Mmap(fd, 0, os.Getpagesize()+size,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return ring{}, fmt.Errorf("map a buffer of %d bytes: %w", size, err)
	}
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0]))
	return ring{memory: memory, page: page, data: memory[os.Getpagesize():]}, nil
}

func (r ring) close() error { return unix.Munmap(r.memory) }

// drain calls each for every record since the last call. It reports whether the kernel may
// have lost records because the buffer was full.
func (r ring) drain(each func(event uint64, pid uint32)) (lost bool) {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail // only this process writes it
	lost = parseRecords(r.data, tail, head, each)
	atomic.StoreUint64(&r.page.Data_tail, head)
	// The kernel reports a loss together with the next record, which may come late. A
	// full buffer shows the loss now.
	return lost || head-tail+2*recordSize > uint64(len(r.data))
}

// A record has a header of kind (4 bytes), flags (2) and size (2). A sample continues with
// the event (8) and the caller's process (4) and thread (4). A record about a loss continues
// with the event (8) and the number of lost records (8).
const (
	recordHeader = 8
	recordSize   = recordHeader + 16
)

// parseRecords reads the records from tail to head of a ring. Records begin at multiples of
// 8 bytes, so no field wraps around the ring's end.
func parseRecords(data []byte, tail, head uint64, each func(event uint64, pid uint32)) (lost bool) {
	at := func(place uint64) []byte {
		place %= uint64(len(data))
		return data[place : place+8]
	}
	for tail+recordHeader <= head {
		header := at(tail)
		kind := binary.NativeEndian.Uint32(header)
		size := uint64(binary.NativeEndian.Uint16(header[6:]))
		if size < recordHeader || size%8 != 0 || tail+size > head {
			return lost // malformed: the kernel writes no such record
		}
		if size >= recordSize {
			event, second := binary.NativeEndian.Uint64(at(tail+8)), at(tail+16)
			switch kind {
			case unix.PERF_RECORD_SAMPLE:
				each(event, binary.NativeEndian.Uint32(second))
			case unix.PERF_RECORD_LOST:
				lost = true
			}
		}
		tail += size
	}
	return lost
}
