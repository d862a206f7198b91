package nats

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// maxLinks bounds the connections of a cluster's producers, and those of its
// consumers: up to this number each client has its own, beyond it clients share.
const maxLinks = 64

// client is a producer or a consumer, seen from its connection. Its methods may be called from any
// goroutine.
type client interface {
	disconnected()
	reconnected()
	closed() // the connection is closed for good
	tick()   // some time has passed
}

// link is a connection and its clients.
type link struct {
	conn  *nats.Conn
	place *place
	stop  chan struct{}
	ended chan struct{} // closed when run has ended

	mu      sync.Mutex
	clients map[client]struct{}
}

// links are the connections of one kind of client.
type links struct {
	connect func(ctx context.Context) (*nats.Conn, error)
	every   time.Duration // between two ticks

	mu     sync.Mutex
	taken  int
	places [maxLinks]place
}

// place holds one link.
type place struct {
	mu    sync.Mutex
	link  *link // nil: no client has it
	users int
}

// take returns a connection for one more client. The client calls leave when it is done.
func (l *links) take(ctx context.Context) (*link, error) {
	l.mu.Lock()
	p := &l.places[l.taken%maxLinks]
	l.taken++
	l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil {
		conn, err := l.connect(ctx)
		if err != nil {
			return nil, err
		}
		p.link = newLink(conn, p, l.every)
	}
	p.users++
	return p.link, nil
}

func newLink(conn *nats.Conn, p *place, every time.Duration) *link {
	k := &link{
		conn: conn, place: p, stop: make(chan struct{}), ended: make(chan struct{}),
		clients: make(map[client]struct{}),
	}
	conn.SetDisconnectErrHandler(func(*nats.Conn, error) { k.tell(client.disconnected) })
	conn.SetReconnectHandler(func(*nats.Conn) { k.tell(client.reconnected) })
	conn.SetClosedHandler(func(*nats.Conn) { k.tell(client.closed) })
	go k.run(every)
	return k
}

// join adds a client, whose methods the link calls until it leaves.
func (k *link) join(c client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clients[c] = struct{}{}
}

// leave removes a client. The last client closes the connection.
func (k *link) leave(c client) {
	k.mu.Lock()
	delete(k.clients, c)
	k.mu.Unlock()
	k.place.mu.Lock()
	defer k.place.mu.Unlock()
	k.place.users--
	if k.place.users > 0 {
		return
	}
	k.place.link = nil
	close(k.stop)
	<-k.ended
	k.conn.Close()
}

func (k *link) tell(what func(client)) {
	k.mu.Lock()
	all := make([]client, 0, len(k.clients))
	for c := range k.clients {
		all = append(all, c)
	}
	k.mu.Unlock()
	for _, c := range all {
		what(c)
	}
}

// run ticks until the last client has left.
func (k *link) run(every time.Duration) {
	defer close(k.ended)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-ticker.C:
			k.tell(client.tick)
		}
	}
}
