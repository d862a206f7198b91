package probe

// row is one question and how it is tried.
type row struct {
	Name     string
	Question string
	try      func(t *trial) (Finding, error)
}

// rows are the questions, in the order in which they are printed. They are
// those of the qualitative half of the UFCG study of 2020.
var rows = []row{
	{"time decoupling", "does a consumer that was away get what was published meanwhile?",
		(*trial).timeDecoupling},
	{"competing consumers",
		"do consumers of one subscription share its messages, each going to one of them?",
		(*trial).competing},
	{"multicast", "does each of several subscriptions get every message?", (*trial).multicast},
	{"order in a partition",
		"do one producer's messages to a partition arrive in the order of sending?",
		(*trial).partitionOrder},
	{"global order", "do they arrive in that order over all partitions of a topic?",
		(*trial).globalOrder},
	{"order on redelivery", "do they keep it when a consumer died and another gets what it had?",
		(*trial).redeliveryOrder},
	{"at most once", "can a consumer have it that no message comes twice, even if it dies?",
		(*trial).atMostOnce},
	{"at least once", "can it have it that none is missing, even if it dies?",
		(*trial).atLeastOnce},
	{"exactly once", "does a message that its publisher had to send twice arrive once?",
		capability((*trial).exactlyOnce)},
	{"redelivery", "does a message go to another consumer when the one that handled it died?",
		(*trial).redelivery},
	{"replay", "can a subscription read again what it has acknowledged?", (*trial).replay},
	{"publisher acks", "what can a publisher wait for, and does it hear of a refusal?",
		capability((*trial).publisherAcks)},
	{"routing: direct", "does a message reach those alone who asked for its key?",
		capability((*trial).routeDirect)},
	{"routing: pattern", "does it reach those whose pattern of words fits its key?",
		capability((*trial).routePattern)},
	{"routing: fanout", "does it reach all who are bound, whatever its key?",
		capability((*trial).routeFanout)},
	{"routing: headers", "does it reach those alone who asked for its headers?",
		capability((*trial).routeHeaders)},
	{"message TTL", "does a message vanish that nobody read within its time to live?",
		capability((*trial).expiry)},
	{"priorities", "does an urgent message overtake others that wait?",
		capability((*trial).priorities)},
	{"delayed delivery", "can a publisher have a message delivered later?",
		capability((*trial).delay)},
	{"dead letters", "does the system put aside what consumers reject?",
		capability((*trial).deadLetters)},
	{"flow control", "do the servers hold back or refuse a publisher that goes beyond a bound?",
		capability((*trial).flowControl)},
	{"transactions", "do several messages arrive all, or none when they are aborted?",
		capability((*trial).transactions)},
}

// Rows are the names of the questions, in their order.
func Rows() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}
