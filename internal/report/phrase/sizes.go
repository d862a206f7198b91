package phrase

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// longestSizes is the length of the longest distribution that a sentence quotes.
const longestSizes = 60

// Size is the size of a load's messages: 1KB, or 13.6KB on average (80% 1KB + 20% 64KB).
func Size(l result.Load) string {
	size := quantity.Bytes(l.MessageBytes)
	switch sizes := document.Clean(l.MessageSizes); {
	case sizes == "":
		return size
	case len(sizes) > longestSizes:
		return size + " on average (a histogram)"
	default:
		return size + " on average (" + sizes + ")"
	}
}

// Messages are a load's messages with their size.
func Messages(l result.Load) string {
	if l.MessageSizes == "" {
		return Size(l) + " messages"
	}
	return "messages of " + Size(l)
}
