package runs

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
)

// howRunsMislead says how the figures of runs could mislead.
func howRunsMislead() document.Block {
	return part.Misleading(
		[2]string{"Latency starts when a message was due,", "by a schedule made beforehand, not " +
			"when it could be sent. If the system stalls for a second, every message due in that " +
			"second is charged its share of the wait."},
		[2]string{"Publish latency", "ends when the producer has the acknowledgement, " +
			"end-to-end latency when the consumer has the message. Send latency, uncorrected, " +
			"starts only when the message is handed over; it is here so that you can compare " +
			"with tools that print it."},
		[2]string{"Acknowledged is worth what the durability level says.", "Compare two systems " +
			"at the same level, read back from the live cluster, or not at all."},
		[2]string{"Lost", "means acknowledged and not received although a later message of the " +
			"same partition was, or not found by an audit. What is merely missing when the run " +
			"ends is unread. Lost does not prove that the message is gone from the system's " +
			"disks, and zero does not prove that no message is lost in a power cut."},
		[2]string{"One run is one run.", "Figures differ between repetitions of the same run; a " +
			"difference between two systems needs repeated, interleaved runs and a test. The " +
			"greatest latency is a single message."},
		[2]string{"What it cost", "covers the measured window and all nodes together: the " +
			"servers' CPU time, bytes on their way to disks and fsync calls for each " +
			"acknowledged message. Write amplification is bytes written per byte of payload: " +
			"three replicas alone make it three."},
		[2]string{"A limiting resource", "is a resource that the run used to 80% or more of " +
			"this machine's limit. None seen does not mean that there is none: locks, a single " +
			"busy thread and the time that an fsync takes have no such limit."},
		[2]string{"The load is synthetic:", "sizes, keys and arrivals are as listed under what " +
			"ran. A load with larger messages, more topics or slower consumers has other figures."},
		[2]string{"One machine is not a cluster.", "Where load and servers share a machine they " +
			"compete for its CPU, caches and disk, and no network is between them."},
		[2]string{"The tool measures itself too.", "If the hiccups rise together with the " +
			"latency, do not blame the system before plimsoll is ruled out. Schedule lag alone " +
			"may be caused by the system: when it blocks its producers, messages that are due " +
			"wait."})
}
