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
	{"time decoupling", "does a consumer that was away get the messages published meanwhile?",
		(*attempt).timeDecoupling},
	{"competing consumers",
		"does each message go to only one consumer of a subscription?",
		(*attempt).competing},
	{"multicast", "does each of several subscriptions get every message?", (*attempt).multicast},
	{"order in a partition",
		"do one producer's messages to a partition arrive in the order of sending?",
		(*attempt).partitionOrder},
	{"global order", "do they arrive in that order across all partitions of a topic?",
		(*attempt).globalOrder},
	{"order on redelivery", "is the order kept when a consumer dies and another gets its messages?",
		(*attempt).redeliveryOrder},
	{"at most once", "can a consumer exclude that a message comes twice, even if it dies?",
		(*attempt).atMostOnce},
	{"at least once", "can a consumer exclude that a message is lost, even if it dies?",
		(*attempt).atLeastOnce},
	{"exactly once", "does a message that its publisher had to send twice arrive once?",
		capability((*attempt).exactlyOnce)},
	{"redelivery",
		"does a message go to another consumer when its consumer dies while handling it?",
		(*attempt).redelivery},
	{"replay", "can a subscription read acknowledged messages again?", (*attempt).replay},
	{"publisher acks",
		"which acknowledgement can a publisher wait for? Does it learn of a refusal?",
		capability((*attempt).publisherAcks)},
	{"routing: direct", "does a message reach only the consumers that asked for its key?",
		capability((*attempt).routeDirect)},
	{"routing: pattern",
		"does a message reach the consumers whose pattern of words matches its key?",
		capability((*attempt).routePattern)},
	{"routing: fanout", "does a message reach all bound consumers, whatever its key?",
		capability((*attempt).routeFanout)},
	{"routing: headers", "does a message reach only the consumers that asked for its headers?",
		capability((*attempt).routeHeaders)},
	{"message TTL", "does a message vanish if it is not read within its time to live?",
		capability((*attempt).expiry)},
	{"priorities", "does an urgent message overtake waiting messages?",
		capability((*attempt).priorities)},
	{"delayed delivery", "can a publisher have a message delivered later?",
		capability((*attempt).delay)},
	{"dead letters", "does the system put rejected messages aside?",
		capability((*attempt).deadLetters)},
	{"flow control", "do the servers block or refuse a publisher that exceeds a bound?",
		capability((*attempt).flowControl)},
	{"transactions", "do all messages of a transaction arrive, or none if it is aborted?",
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
