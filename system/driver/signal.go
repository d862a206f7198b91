package driver

// Signal wakes the goroutine that receives from it. It holds one note at most, so giving it never
// blocks.
type Signal chan struct{}

// NewSignal returns a signal without a note.
func NewSignal() Signal { return make(Signal, 1) }

// Give leaves a note, unless there is one already.
func (s Signal) Give() {
	select {
	case s <- struct{}{}:
	default:
	}
}
