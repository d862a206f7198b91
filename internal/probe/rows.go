package probe

// row is one question and the function that tries it.
type row struct {
	Name     string
	Question string
	try      func(t *attempt) (Finding, error)
}

// rows are the questions of the qualitative half of the UFCG study of 2020, in the order of
// printing.
var rows = []row{
	{"time decoupling", "does a consumer that was away get what was published meanwhile?",
		(*attempt).timeDecoupling},
	{"competing consumers",
		"do consumers of one subscription share its messages, each going to one of them?",
		(*attempt).competing},
	{"multicast", "does each of several subscriptions get every message?", (*attempt).multicast},
	{"order in a partition",
		"do one producer's messages to a partition arrive in the order of sending?",
		(*attempt).partitionOrder},
	{"global order", "do they arrive in that order over all partitions of a topic?",
		(*attempt).globalOrder},
	{"order on redelivery", "do they keep it when a consumer died and another gets what it had?",
		(*attempt).redeliveryOrder},
	{"at most once", "can a consumer have it that no message comes twice, even if it dies?",
		(*attempt).atMostOnce},
	{"at least once", "can it have it that none is missing, even if it dies?",
		(*attempt).atLeastOnce},
	{"exactly once", "does a message that its publisher had to send twice arrive once?",
		capability((*attempt).exactlyOnce)},
	{"redelivery", "does a message go to another consumer when the one that handled it died?",
		(*attempt).redelivery},
	{"replay", "can a subscription read again what it has acknowledged?", (*attempt).replay},
	{"publisher acks", "what can a publisher wait for, and does it hear of a refusal?",
		capability((*attempt).publisherAcks)},
	{"routing: direct", "does a message reach those alone who asked for its key?",
		capability((*attempt).routeDirect)},
	{"routing: pattern", "does it reach those whose pattern of words fits its key?",
		capability((*attempt).routePattern)},
	{"routing: fanout", "does it reach all who are bound, whatever its key?",
		capability((*attempt).routeFanout)},
	{"routing: headers", "does it reach those alone who asked for its headers?",
		capability((*attempt).routeHeaders)},
	{"message TTL", "does a message vanish that nobody read within its time to live?",
		capability((*attempt).expiry)},
	{"priorities", "does an urgent message overtake others that wait?",
		capability((*attempt).priorities)},
	{"delayed delivery", "can a publisher have a message delivered later?",
		capability((*attempt).delay)},
	{"dead letters", "does the system put aside what consumers reject?",
		capability((*attempt).deadLetters)},
	{"flow control", "do the servers hold back or refuse a publisher that goes beyond a bound?",
		capability((*attempt).flowControl)},
	{"transactions", "do several messages arrive all, or none when they are aborted?",
		capability((*attempt).transactions)},
}

// Rows are the names of the questions, in their order.
func Rows() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}
