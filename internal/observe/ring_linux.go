package observe

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is a buffer that the kernel writes records to, and its first page,
// which says how far it came; see perf_event_open(2).
type ring struct {
	memory []byte
	page   *unix.PerfEventMmapPage
	data   []byte
}

func newRing(fd, size int) (ring, error) {
	memory, err := unix.Mmap(fd, 0, os.Getpagesize()+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return ring{}, fmt.Errorf("map a buffer of %d bytes: %w", size, err)
	}
	return ring{memory: memory, page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), data: memory[os.Getpagesize():]}, nil
}

func (r ring) close() error { return unix.Munmap(r.memory) }

// drain calls each for every record written since the last time, and reports
// whether the kernel may have had no room for some.
func (r ring) drain(each func(event uint64, pid uint32)) (lost bool) {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail // only we write it
	lost = parseRecords(r.data, tail, head, each)
	atomic.StoreUint64(&r.page.Data_tail, head)
	// The kernel tells of a loss in the record that follows it, which may come
	// late: a buffer that is full tells of it now.
	return lost || head-tail+2*recordSize > uint64(len(r.data))
}

// Records have a header of kind (4 bytes), bits (2) and size (2), and then: a
// sample the event (8) and who made it, process (4) and thread (4); one that
// tells of a loss the event (8) and how many (8).
const (
	recordHeader = 8
	recordSize   = recordHeader + 16
)

// parseRecords reads the records between two places of a ring. Records begin
// at multiples of eight bytes, so that no field runs over the ring's end.
func parseRecords(data []byte, tail, head uint64, each func(event uint64, pid uint32)) (lost bool) {
	at := func(place uint64) []byte {
		place %= uint64(len(data))
		return data[place : place+8]
	}
	for tail+recordHeader <= head {
		header := at(tail)
		kind, size := binary.NativeEndian.Uint32(header), uint64(binary.NativeEndian.Uint16(header[6:]))
		if size < recordHeader || size%8 != 0 || tail+size > head {
			return lost // not what the kernel writes
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
