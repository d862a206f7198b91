package rabbitmq

import (
	"context"
	"fmt"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/message"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"
)

// publishStreamTwice publishes one message twice under one publishing id, and
// waits for both confirms.
func (c *cluster) publishStreamTwice(ctx context.Context, name string,
	payload []byte) (answer string, err error) {
	environment, err := c.streamEnvironment(0)
	if err != nil {
		return "", err
	}
	defer func() { _ = environment.Close() }() // it always returns nil
	p, err := environment.NewProducer(name,
		stream.NewProducerOptions().SetProducerName("plimsoll-probe"))
	if err != nil {
		return "", fmt.Errorf("open a producer of stream %s: %w", name, err)
	}
	defer func() { _ = p.Close() }() // the environment's end ends it too
	confirms := p.NotifyPublishConfirmation()
	const id = 1
	for range 2 {
		m := amqp.NewMessage(payload)
		m.SetPublishingId(id)
		if err := p.BatchSend([]message.StreamMessage{m}); err != nil {
			return "", fmt.Errorf("publish to stream %s: %w", name, err)
		}
		select {
		case <-confirms:
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the confirm: %w", ctx.Err())
		}
	}
	return fmt.Sprintf("both times with publishing id %d, confirmed both times", id), nil
}
