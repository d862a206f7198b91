package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

func (c *cluster) isLog() bool { return c.Text(setShape) == shapeLog }

// OpenReplay sets the subscription's positions to the start of the log.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	if !c.isLog() {
		return nil, "", &system.NotSupported{Condition: setShape + ": " + shapeLog,
			Reason: "a queue's rows are deleted when they have been handled"}
	}
	err := c.change(ctx, "set the positions", table{name: o.Topic.Name}.named(
		"UPDATE READERS SET tx = '0', id = 0 WHERE name = "+literal(o.Subscription)))
	if err != nil {
		return nil, "", err
	}
	r, err := c.OpenConsumer(ctx, o)
	return r, setShape + ": " + shapeLog, err
}

// OpenShared opens a consumer. The consumers of a queue take rows of every partition.
func (c *cluster) OpenShared(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	if c.isLog() {
		return nil, "", &system.NotSupported{Condition: setShape + ": " + shapeQueue,
			Reason: "a position is one consumer's at a time, under an advisory lock"}
	}
	r, err := c.OpenConsumer(ctx, o)
	return r, setShape + ": " + shapeQueue, err
}

// insertion returns an INSERT of a message without a key into partition 0.
func (c *cluster) insertion(topic, payload string) string {
	t := table{name: topic}
	if c.isLog() {
		return t.named("INSERT INTO MESSAGES (part, payload) VALUES (0, " + payload + ")")
	}
	return t.named("INSERT INTO MESSAGES (subscription, part, payload) SELECT id, 0, " + payload +
		" FROM READERS")
}

func hex(payload []byte) string { return fmt.Sprintf(`'\x%x'::bytea`, payload) }

// PublishAcked publishes with the commit of one server or of a standby.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	commit := "local"
	switch kind {
	case system.AckNone:
		return "", system.Lacks("every statement is answered")
	case system.AckRefusal:
		err := c.change(ctx, "publish", c.insertion(t.Name, "NULL"))
		return driver.Refusal(state(err) != "", err)
	case system.AckReplicas:
		commit = "remote_write"
	}
	err := c.change(ctx, "publish", "SET LOCAL synchronous_commit = "+commit+";"+
		c.insertion(t.Name, hex(payload)))
	return "the commit was answered, synchronous_commit " + commit, err
}

// OpenRoutes uses a topic for each key.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	return c.OpenKeyRoutes(ctx, c, r,
		func(ctx context.Context, topic string, payload []byte) error {
			return c.change(ctx, "publish", c.insertion(topic, hex(payload)))
		})
}

// Transact publishes between BEGIN and COMMIT, or ROLLBACK.
func (c *cluster) Transact(
	ctx context.Context, t system.Topic, payloads [][]byte, commit bool,
) (string, error) {
	statements := []string{"BEGIN"}
	for _, payload := range payloads {
		statements = append(statements, c.insertion(t.Name, hex(payload)))
	}
	end := "ROLLBACK"
	if commit {
		end = "COMMIT"
	}
	return "", c.change(ctx, "publish in a transaction",
		strings.Join(append(statements, end), ";"))
}

// PublishTwice inserts a row twice under a number that the publisher chose.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (
	answer, condition string, err error,
) {
	condition = "the publisher chooses each row's number (OVERRIDING SYSTEM VALUE), which the " +
		"primary key holds unique"
	if !c.isLog() {
		return "", "", &system.NotSupported{Condition: setShape + ": " + shapeLog,
			Reason: "a row that was handled is deleted, and its number is free again"}
	}
	insert := table{name: t.Name}.named("INSERT INTO MESSAGES (part, tx, id, payload) " +
		"OVERRIDING SYSTEM VALUE VALUES (0, '1', 0, " + hex(payload) + ")")
	if err := c.change(ctx, "publish", insert); err != nil {
		return "", "", err
	}
	err = c.change(ctx, "publish again", insert)
	answer, err = driver.Refusal(state(err) != "", err)
	return "the second time: " + answer, condition, err
}

// lacks holds the reasons for missing capabilities and their substitutes.
var lacks = driver.Lacks{
	Routes: map[system.RouteKind]string{
		system.RoutePattern: "a consumer takes all rows of its subscription; a WHERE on the key " +
			"would choose among them, and is not part of this queue",
		system.RouteHeaders: "the table has no headers; a column of jsonb and a WHERE on it are " +
			"not part of this queue",
	},
	Features: map[system.Feature]string{
		system.FeatureTTL: "a row has no time to live; a column with a time, and a DELETE job " +
			"are not part of this queue",
		system.FeatureDelay: "a row can be taken as soon as it is committed; a column with a due " +
			"time is not part of this queue",
		system.FeaturePriority: "rows are taken in their order; a column to order by is not part " +
			"of this queue",
	},
	Rejection: "ROLLBACK returns a row, and nothing counts how often; a column of attempts and a " +
		"second table are not part of this queue",
	Bounds: "a table has no bound but the disk, which was therefore not tried",
}
