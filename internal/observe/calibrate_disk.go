package observe

import (
	"context"
	"crypto/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const (
	blockBytes  = 1 << 20
	syncedBytes = 4 << 10
	// writers is the number of concurrent writes, like those of the kernel when it writes
	// back the page cache. A disk with one write at a time is idle in between.
	writers = 4
	// syncEvery is the number of blocks between two syncs of buffered writes. Without
	// syncs the figure would be that of memory.
	syncEvery = 32
)

// sequentialWrite measures how fast the file can be written from beginning to end. It
// bypasses the page cache where the file system allows it.
func sequentialWrite(
	ctx context.Context, f *os.File, inMemory bool, e Effort,
) (bytesPerS float64, direct bool, err error) {
	if err := f.Truncate(0); err != nil {
		return 0, false, err
	}
	if err := reserve(f, e.FileBytes); err != nil {
		return 0, false, err
	}
	block := alignedBlock()
	if !inMemory && setDirect(f, true) == nil {
		// Some file systems refuse direct I/O only at the first write.
		if _, err := f.WriteAt(block, 0); err == nil {
			direct = true
		} else if err := setDirect(f, false); err != nil {
			return 0, false, err
		}
	}
	if direct {
		defer func() { _ = setDirect(f, false) }()
	}
	began := clock.Now()
	until := began + int64(e.Write)
	var written int64
	if direct {
		written, err = writeDirect(ctx, f, block, e, until)
	} else {
		written, err = writeBuffered(ctx, f, block, e, until)
	}
	if err == nil {
		// Without a sync, some data may still be in the disk's cache.
		err = syncData(f)
	}
	if err != nil {
		return 0, direct, err
	}
	return float64(written) / time.Duration(clock.Now()-began).Seconds(), direct, nil
}

// writeDirect writes blocks with direct I/O, several at a time.
func writeDirect(
	ctx context.Context, f *os.File, block []byte, e Effort, untilNs int64,
) (int64, error) {
	var next, written atomic.Int64
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for clock.Now() < untilNs && ctx.Err() == nil {
				at := next.Add(blockBytes) - blockBytes
				if at >= e.WriteBytes {
					return
				}
				if _, err := f.WriteAt(block, at%e.FileBytes); err != nil {
					errs <- err
					return
				}
				written.Add(blockBytes)
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return 0, err
	default:
		return written.Load(), ctx.Err()
	}
}

// writeBuffered writes blocks through the page cache, with regular syncs.
func writeBuffered(
	ctx context.Context, f *os.File, block []byte, e Effort, untilNs int64,
) (written int64, err error) {
	for clock.Now() < untilNs && written+blockBytes <= e.WriteBytes {
		for range min(syncEvery, (e.WriteBytes-written)/blockBytes) {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			if _, err := f.WriteAt(block, written%e.FileBytes); err != nil {
				return 0, err
			}
			written += blockBytes
		}
		if err := syncData(f); err != nil {
			return 0, err
		}
	}
	return written, nil
}

// syncLatency measures the sync of a small write at the end of a growing file, which is how
// logs are written.
func syncLatency(ctx context.Context, f *os.File, e Effort) ([]result.Latency, error) {
	content := make([]byte, syncedBytes)
	_, _ = rand.Read(content)
	took := newTimed()
	until := clock.Now() + int64(e.Sync)
	for n := range e.Syncs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, err := f.WriteAt(content, int64(n)*syncedBytes); err != nil {
			return nil, err
		}
		before := clock.Now()
		if before >= until {
			break
		}
		if err := syncData(f); err != nil {
			return nil, err
		}
		took.add(clock.Now() - before)
	}
	return took.latency(seriesSync), nil
}

// alignedBlock returns a block of incompressible bytes whose address suits direct I/O.
func alignedBlock() []byte {
	const boundary = 4096
	raw := make([]byte, blockBytes+boundary)
	skip := boundary - int(uintptr(unsafe.Pointer(&raw[0]))%boundary)
	block := raw[skip : skip+blockBytes : skip+blockBytes]
	_, _ = rand.Read(block)
	return block
}
