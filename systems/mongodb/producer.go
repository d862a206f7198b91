package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Fields of a message.
const (
	fieldID        = "_id"
	fieldPartition = "q"
	fieldPayload   = "p"
	fieldKey       = "k"
)

// overhead bounds the bytes of a document besides payload and key.
const overhead = 4 << 10

// producer inserts documents into one collection, one insertMany after another.
type producer struct {
	*driver.Batches[document]
	of         *cluster
	collection *mongo.Collection
	options    *options.InsertManyOptionsBuilder
	ordered    bool
	documents  []any // of the running batch
	closing    driver.Closing
}

// document is a message in BSON. Its bytes are reused.
type document struct{ raw []byte }

// MarshalBSON gives the library the bytes.
func (d *document) MarshalBSON() ([]byte, error) { return d.raw, nil }

// OpenProducer opens a producer.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	if most := c.server.maxBytes - overhead; o.MessageMax > most {
		return nil, fmt.Errorf("messages of %d bytes do not fit into documents, which take %d: "+
			"send smaller messages", o.MessageMax, most)
	}
	if _, err := c.readTopic(ctx, o.Topic.Name); err != nil {
		return nil, err
	}
	p := &producer{
		of: c, collection: c.database().Collection(o.Topic.Name), ordered: c.Bool(setOrdered),
	}
	p.options = options.InsertMany().SetOrdered(p.ordered)
	p.Batches = driver.NewBatches(driver.Batching[document]{
		InFlight: o.InFlight, Most: int(c.Count(setBatch)), Linger: c.Duration(setLinger),
		Answered:   o.Answered,
		Partitions: o.Topic.Partitions, Deliver: p.deliver,
		Create: func(*document) {},
		Fill:   func(one *driver.Batched[document]) { c.write(&one.Own, one.Message) },
	})
	return p, c.clients.Keep(ctx, p)
}

// write makes a message's document.
func (c *cluster) write(d *document, m *system.Message) {
	index, raw := bsoncore.AppendDocumentStart(d.raw[:0])
	raw = bsoncore.AppendObjectIDElement(raw, fieldID, c.sequence.next())
	raw = bsoncore.AppendInt32Element(raw, fieldPartition, m.Partition)
	raw = bsoncore.AppendBinaryElement(raw, fieldPayload, 0, m.Payload)
	if m.Key != nil {
		raw = bsoncore.AppendBinaryElement(raw, fieldKey, 0, m.Key)
	}
	d.raw, _ = bsoncore.AppendDocumentEnd(raw, index) // the document was begun
}

// deliver inserts a batch and reports the outcome of each message. It retries if the batch reached
// no server.
func (p *producer) deliver(life context.Context, batch []*driver.Batched[document]) {
	p.documents = p.documents[:0]
	for _, one := range batch {
		p.documents = append(p.documents, &one.Own)
	}
	var err error
	driver.Resend(life, p.of.Duration(setDelivery), func() bool {
		ctx, cancel := context.WithTimeout(life, p.of.Duration(setRequest))
		defer cancel()
		_, err = p.collection.InsertMany(ctx, p.documents, p.options)
		return err != nil && unsent(err)
	})
	if err == nil {
		p.EndAll(batch, nil)
		return
	}
	for i, outcome := range p.outcomes(life, len(batch), err) {
		p.End(batch[i], outcome)
	}
}

// errNotTried is the error of a message behind a document that the server refused.
var errNotTried = errors.New("an ordered batch ends at the first document that the server " +
	"refuses, and this message came after it")

// outcomes returns the result of each of n documents of an insertMany with an error.
func (p *producer) outcomes(life context.Context, n int, err error) []error {
	all := make([]error, n)
	set := func(from int, to error) {
		for i := from; i < n; i++ {
			all[i] = to
		}
	}
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) {
		set(0, p.outcome(life, err))
		return all
	}
	if w := bulk.WriteConcernError; w != nil {
		// The insert is not undone.
		set(0, fmt.Errorf("the write concern was not reached: %s: %w", w.Message,
			system.ErrUnknown))
	}
	for _, refused := range bulk.WriteErrors {
		if refused.Index < 0 || refused.Index >= n {
			continue
		}
		if p.ordered {
			set(refused.Index, errNotTried)
		}
		all[refused.Index] = refusedDocument(refused)
	}
	return all
}

// refusedDocument says why the server refused a document, and what to do next.
func refusedDocument(e mongo.BulkWriteError) error {
	remedy := "look into the server's log for the reason"
	switch e.Code {
	case codeDuplicateKey:
		remedy = "remove the unique index from the collection, or delete the collection"
	case codeValidation:
		remedy = "remove the validation rules of the collection, or delete the collection"
	case codeTooLarge, codeObjectTooLarge:
		remedy = "make the messages smaller than 16 MiB, MongoDB's largest document"
	case codeUnauthorized:
		remedy = "give the user the role readWrite of the database"
	}
	return fmt.Errorf("the server refused the document (code %d): %s: %s", e.Code, remedy,
		e.Message)
}

// outcome classifies an error of a whole batch.
func (p *producer) outcome(life context.Context, err error) error {
	var answer mongo.CommandError
	switch {
	case life.Err() != nil:
		return driver.ErrUnanswered
	case unsent(err), errors.As(err, &answer) && refusals[answer.Code]:
		return p.of.explain(err)
	}
	return fmt.Errorf("%w: %w", plain(err), system.ErrUnknown)
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		return p.Batches.Close(ctx)
	})
}
