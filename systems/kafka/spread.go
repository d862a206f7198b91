package kafka

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.Spreader = kafkaSystem{}

// Spread is the Java client's built-in partitioner. Up to 3.2 it went on with each new
// batch, which linger or the batch's size ends. Since 3.3 it goes on when it has given
// a partition batch_size bytes and no batch of that partition is open. Where linger
// ends the batches both make one for each linger, of what came meanwhile, and so does
// a deal by due times: that is what plimsoll follows.
func (kafkaSystem) Spread(s system.Settings) system.Spread {
	d := system.Spread{
		Source: "KIP-794 (BuiltInPartitioner of the Java client since 3.3, with KAFKA-14156) " +
			"and KIP-480 (2.4 to 3.2)",
	}
	const how = "the Java client fills batches of one partition before it takes another; "
	if linger := s.Duration(setLinger); linger > 0 {
		d.Stay = linger
		d.How = fmt.Sprintf("%splimsoll takes the next one every %s (%s), which makes as many "+
			"batches as large", how, setLinger, s.Text(setLinger))
		return d
	}
	d.StayBytes = s.Bytes(setBatchSize)
	d.How = fmt.Sprintf("%safter %s (%s) it takes the next partition", how, setBatchSize,
		s.Text(setBatchSize))
	return d
}
