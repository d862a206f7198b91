package report

import (
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// longestSizes is the length of the longest distribution that a sentence quotes.
const longestSizes = 60

// sizeOf is the size of a load's messages: 1KB, or 13.6KB on average (80% 1KB + 20% 64KB).
func sizeOf(l result.Load) string {
	size := quantity.Bytes(l.MessageBytes)
	switch sizes := clean(l.MessageSizes); {
	case sizes == "":
		return size
	case len(sizes) > longestSizes:
		return size + " on average (a histogram)"
	default:
		return size + " on average (" + sizes + ")"
	}
}

// messagesOf are a load's messages with their size.
func messagesOf(l result.Load) string {
	if l.MessageSizes == "" {
		return sizeOf(l) + " messages"
	}
	return "messages of " + sizeOf(l)
}
