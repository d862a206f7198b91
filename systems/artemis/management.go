package artemis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
)

const (
	managementAddress = "activemq.management"
	multicast         = "MULTICAST"
	broker            = "broker" // the resource name of the server itself
	askWithin         = 5 * time.Second
)

// management sends requests to a server's management address. It is safe for concurrent use. It
// connects on first use and again after a lost connection.
type management struct {
	dialer *amqp.Dialer
	mu     sync.Mutex
	link   *managementLink
	// mayCome is the path of a file with passwords that the server was asked to write and has not
	// confirmed. close removes it. Only the goroutine that reads the durability uses it.
	mayCome string
}

// managementLink is a connection with a queue for answers.
type managementLink struct {
	*amqp.Conn
	ask     *goamqp.Sender
	answers *goamqp.Receiver
	replyTo string
}

func newManagement(d *amqp.Dialer) *management { return &management{dialer: d} }

func (m *management) close() {
	if m.mayCome != "" {
		_ = os.Remove(m.mayCome)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		m.link.Close(ctx)
		m.link = nil
	}
}

// refusal is the server's refusal of a request.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "the server refuses: " + r.reason }

// refused reports whether an error is a refusal with a given code.
func refused(err error, code string) bool {
	var r *refusal
	return errors.As(err, &r) && strings.Contains(r.reason, code)
}

// call calls an operation of a resource and returns its result as JSON.
func (m *management) call(ctx context.Context, resource, operation string, arguments ...any) (
	json.RawMessage, error,
) {
	if arguments == nil {
		arguments = []any{}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return m.request(ctx, map[string]any{
		"_AMQ_ResourceName": resource, "_AMQ_OperationName": operation,
	}, string(raw))
}

// attribute reads an attribute of a resource into a value.
func (m *management) attribute(ctx context.Context, resource, name string, into any) error {
	raw, err := m.request(ctx, map[string]any{
		"_AMQ_ResourceName": resource, "_AMQ_Attribute": name,
	}, "[]")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// text reads a textual attribute.
func (m *management) text(ctx context.Context, resource, name string) (text string, err error) {
	err = m.attribute(ctx, resource, name, &text)
	return text, err
}

// endpoint returns the address of the server that answers.
func (m *management) endpoint(ctx context.Context) (string, error) {
	if _, err := m.text(ctx, broker, "Version"); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link == nil {
		return "", errors.New("the connection to the server was lost just now")
	}
	return m.link.Endpoint, nil
}

// request sends a request and waits for its answer. It reconnects if the connection was lost since
// the last request; all requests of the driver can safely be repeated.
func (m *management) request(ctx context.Context, properties map[string]any, body string) (
	json.RawMessage, error,
) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		fresh := m.link == nil
		if fresh {
			if err := m.connect(ctx); err != nil {
				return nil, err
			}
		}
		answer, err := m.link.exchange(ctx, properties, body)
		if err == nil {
			return result(answer)
		}
		m.link.Cut()
		m.link = nil
		if fresh || ctx.Err() != nil {
			return nil, m.dialer.Explain(fmt.Errorf("ask the server's management: %w", err))
		}
	}
}

func (m *management) connect(ctx context.Context) error {
	c, err := m.dialer.Dial(ctx, 0)
	if err != nil {
		return err
	}
	l := &managementLink{Conn: c}
	l.ask, err = c.NewSender(ctx, managementAddress, nil)
	if err == nil {
		l.answers, err = c.NewReceiver(ctx, "", &goamqp.ReceiverOptions{
			DynamicAddress: true, Credit: 1,
		})
	}
	if err != nil {
		c.Cut()
		return m.dialer.Explain(fmt.Errorf("open links to %s, the server's management: %w",
			managementAddress, err))
	}
	l.replyTo = l.answers.Address()
	m.link = l
	return nil
}

func (l *managementLink) exchange(ctx context.Context, properties map[string]any, body string) (
	*goamqp.Message, error,
) {
	err := l.ask.Send(ctx, &goamqp.Message{
		Properties:            &goamqp.MessageProperties{ReplyTo: &l.replyTo},
		ApplicationProperties: properties, Value: body,
	}, nil)
	if err != nil {
		return nil, err
	}
	answer, err := l.answers.Receive(ctx, nil)
	if err != nil {
		return nil, err
	}
	return answer, l.answers.AcceptMessage(ctx, answer)
}

// result returns the only element of an answer.
func result(answer *goamqp.Message) (json.RawMessage, error) {
	text, ok := answer.Value.(string)
	if !ok {
		text = string(answer.GetData())
	}
	elements := []json.RawMessage{nil}
	if text != "" { // an empty text is the result of an operation that returns nothing
		if err := json.Unmarshal([]byte(text), &elements); err != nil {
			return nil, fmt.Errorf("the management answers %.100q: %w", text, err)
		}
	}
	if len(elements) == 0 {
		elements = []json.RawMessage{nil}
	}
	if done, _ := answer.ApplicationProperties["_AMQ_OperationSucceeded"].(bool); !done {
		reason := string(elements[0])
		_ = json.Unmarshal(elements[0], &reason) // not a text otherwise
		return nil, &refusal{reason}
	}
	return elements[0], nil
}

// exportFile is the file into which a server writes its configuration on request, in its
// instance's folder for temporary files.
const exportFile = "broker_config_as_properties.txt"

// exporting is held while a server's file is written, read and removed.
var exporting sync.Mutex

// config returns a server's configuration as the running server exports it. It returns nil for a
// server on another machine, whose files cannot be read.
func (m *management) config(ctx context.Context) (map[string]string, error) {
	journal, err := m.text(ctx, broker, "JournalDirectory")
	if err != nil {
		return nil, err
	}
	// An instance has data/journal and tmp.
	folder := filepath.Join(journal, "..", "..", "tmp")
	if _, err := os.Stat(journal); err != nil {
		return nil, nil //nolint:nilerr // it is on another machine
	}
	raw, err := exported(folder, func(path string) error {
		_, err := m.call(ctx, broker, "exportConfigAsProperties")
		if r := (*refusal)(nil); err != nil && !errors.As(err, &r) {
			m.mayCome = path
		}
		return err
	})
	if err != nil || raw == nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all, nil
}

// exported asks a server to write a file into a folder and returns its content. The file may hold
// passwords: it is made readable to its owner only before the server writes, and is removed on
// every path. The result is nil if this process may not write into the folder, or if the server
// writes elsewhere.
func exported(folder string, ask func(path string) error) (raw []byte, err error) {
	exporting.Lock()
	defer exporting.Unlock()
	path := filepath.Join(folder, exportFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, nil
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("the server writes its configuration to %s, which exists: remove "+
			"the file, or move it if it is needed", path)
	case err != nil:
		return nil, fmt.Errorf("create the file for the server's configuration: %w", err)
	}
	defer func() {
		if removed := os.Remove(path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove the configuration that the server wrote, "+
				"which may hold passwords: %w", removed))
		}
	}()
	if err := errors.Join(ownedLike(f, folder), f.Close()); err != nil {
		return nil, fmt.Errorf("create the file for the server's configuration: %w", err)
	}
	if err := ask(path); err != nil {
		return nil, fmt.Errorf("have the server write its configuration: %w", err)
	}
	raw, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the configuration that the server wrote: %w", err)
	}
	return raw, nil
}

// ownedLike gives a file to the owner of the folder, who is also the server's user.
func ownedLike(f *os.File, folder string) error {
	at, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, ok := at.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
