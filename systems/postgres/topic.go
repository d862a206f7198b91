package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// maxName is the longest name of a table. PostgreSQL truncates longer ones.
const maxName = 63

const readersSuffix = ".read"

// table is a topic's table.
type table struct {
	name       string
	shape      string
	partitions int
}

func (t table) messages() string { return quoted(t.name) }
func (t table) readers() string  { return quoted(t.name + readersSuffix) }

// comment returns the table's comment, by which a later run recognises the table.
func (t table) comment() string { return fmt.Sprintf("plimsoll %s %d", t.shape, t.partitions) }

// create returns the statements that create the topic. In a queue's table of readers, the row
// without a name is reserved for the first subscription, so that a topic keeps its messages before
// the first subscription exists.
func (t table) create() string {
	statements := []string{
		`CREATE TABLE MESSAGES (id bigint GENERATED ALWAYS AS IDENTITY, subscription int NOT NULL,
		 part int NOT NULL, key bytea, payload bytea NOT NULL, PRIMARY KEY (subscription, id))`,
		`CREATE TABLE READERS (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE)`,
		`INSERT INTO READERS DEFAULT VALUES`,
	}
	if t.shape == shapeLog {
		statements = []string{
			`CREATE TABLE MESSAGES (part int NOT NULL,
			 tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
			 id bigint GENERATED ALWAYS AS IDENTITY, key bytea, payload bytea NOT NULL,
			 PRIMARY KEY (part, tx, id))`,
			`CREATE TABLE READERS (name text, part int, tx xid8 NOT NULL, id bigint NOT NULL,
			 PRIMARY KEY (name, part)) WITH (fillfactor = 50)`,
		}
	}
	statements = append(statements, "COMMENT ON TABLE MESSAGES IS "+literal(t.comment()))
	return t.named(strings.Join(statements, ";\n"))
}

// named writes the tables' names into a statement.
func (t table) named(statement string) string {
	return strings.NewReplacer("MESSAGES", t.messages(), "READERS", t.readers()).Replace(statement)
}

// tableOf reads a topic's table, and compares its shape with the setting.
func (c *cluster) tableOf(ctx context.Context, name string) (table, error) {
	rows, err := c.ask(ctx, `SELECT coalesce(obj_description(to_regclass($1), 'pg_class'), ''),
	 (to_regclass($1) IS NOT NULL)::text`, quoted(name))
	if err != nil {
		return table{}, fmt.Errorf("look for topic %s: %w", name, err)
	}
	t := table{name: name}
	if rows[0][1] != "true" {
		return t, fmt.Errorf("there is no table %s: create the topic first", name)
	}
	if _, err := fmt.Sscanf(rows[0][0], "plimsoll %s %d", &t.shape, &t.partitions); err != nil {
		return t, fmt.Errorf("the table %s is not a topic of plimsoll: drop it, or choose "+
			"another name", name)
	}
	if want := c.Text(setShape); t.shape != want {
		return t, fmt.Errorf("topic %s has the shape %s, and the target asks for %s: delete the "+
			"topic, or set %s: %s", name, t.shape, want, setShape, t.shape)
	}
	return t, nil
}

// open is tableOf for a client, and also checks the number of partitions.
func (c *cluster) open(ctx context.Context, t system.Topic) (table, error) {
	have, err := c.tableOf(ctx, t.Name)
	if err == nil && have.partitions != t.Partitions {
		err = fmt.Errorf("topic %s has %d partitions instead of %d: delete the topic, or "+
			"choose another name", t.Name, have.partitions, t.Partitions)
	}
	return have, err
}

// CreateTopic creates the topic's tables.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	return c.CreateTopics(ctx, []system.Topic{t})
}

// CreateTopics creates the tables of all topics in one transaction.
func (c *cluster) CreateTopics(ctx context.Context, topics []system.Topic) error {
	var all []string
	for _, t := range topics {
		if len(t.Name)+len(readersSuffix) > maxName {
			return fmt.Errorf("topic %s: the name has more than %d bytes, and PostgreSQL would "+
				"cut it: choose a shorter one", t.Name, maxName-len(readersSuffix))
		}
		all = append(all, table{t.Name, c.Text(setShape), t.Partitions}.create())
	}
	return c.change(ctx, "create the topics", strings.Join(all, ";\n"))
}

// DeleteTopic deletes the topic's tables.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	return c.DeleteTopics(ctx, []system.Topic{t})
}

// DeleteTopics deletes the existing tables.
func (c *cluster) DeleteTopics(ctx context.Context, topics []system.Topic) error {
	var all []string
	for _, t := range topics {
		all = append(all, table{name: t.Name}.named("DROP TABLE IF EXISTS MESSAGES, READERS"))
	}
	return c.change(ctx, "delete the topics", strings.Join(all, ";\n"))
}

// change executes statements in one transaction.
func (c *cluster) change(ctx context.Context, doing, statements string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 3*driver.ConnectWithin)
	defer cancel()
	c.admin.warning = nil
	c.admin.dropBroken(ctx)
	err := c.admin.execute(ctx, statements)
	switch {
	case state(err) == stateExists:
		err = fmt.Errorf("a topic or table of the name exists: delete it, or choose another "+
			"name: %w", err)
	case err != nil:
		err = c.explain(err)
	default:
		err = c.unreplicated(c.admin)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// unreplicated returns the error of a commit that the primary stopped replicating: it sends a
// warning and then answers with a success.
func (c *cluster) unreplicated(l *link) error {
	if l.warning == nil || !c.level.Majority() {
		return nil
	}
	return fmt.Errorf("%w: %w", l.warning, system.ErrUnknown)
}
