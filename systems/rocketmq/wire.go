package rocketmq

import (
	"bufio"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Codes of requests.
const (
	askPull           = 11
	askOffset         = 14
	askSetOffset      = 15
	askCreateTopic    = 17
	askConfig         = 26
	askRuntime        = 28
	askMaxOffset      = 30
	askMinOffset      = 31
	askHeartbeat      = 34
	askLeave          = 35
	askMembers        = 38
	askMembersChanged = 40 // a broker asks it
	askCluster        = 106
	askCreateGroup    = 200
	askDeleteGroup    = 207
	askDeleteTopic    = 215
	askForgetTopic    = 216 // at a name server
	askGroups         = 300
	askSendBatch      = 320
	askTopic          = 351
	askReplicas       = 907
)

// Codes of answers.
const (
	saysOK           = 0
	saysError        = 1
	saysBusy         = 2
	saysNotSupported = 3
	saysFlushTimeout = 10
	saysNoSlave      = 11
	saysSlaveTimeout = 12
	saysUnavailable  = 14
	saysNoTopic      = 17
	saysNothing      = 19 // within the time of a pull
	saysPullAgain    = 20
	saysOffsetMoved  = 21
	saysNotFound     = 22
	saysNoSuchGroup  = 26
)

const (
	languageGo      = "GO"
	protocolVersion = 513 // that of 5.5.0
	flagAnswer      = 1

	formJSON         byte = 0
	headerLengthMask      = 1<<24 - 1
	lengthsBytes          = 8
	frameMost             = 64 << 20
	growth                = 1 << 20 // a peer that only promises many bytes gets no memory for them
)

// fields are the parameters of a request or an answer.
type fields map[string]string

// frame is a request or an answer. Its header is JSON.
type frame struct {
	Code     int    `json:"code"`
	Language string `json:"language"`
	Version  int    `json:"version"`
	Opaque   int32  `json:"opaque"` // an answer has its request's
	Flag     int    `json:"flag"`
	Remark   string `json:"remark,omitempty"`
	Fields   fields `json:"extFields,omitempty"`
	body     []byte
}

// refusal is an answer other than success.
type refusal struct {
	code   int
	remark string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s (code %d)", cmp.Or(oneLine(r.remark), "no reason given"), r.code)
}

// says reports whether an error is a server's answer with one of the codes.
func says(err error, codes ...int) bool {
	var r *refusal
	return errors.As(err, &r) && slices.Contains(codes, r.code)
}

// errUnsent is wrapped by errors of requests of which the server has received nothing.
var errUnsent = errors.New("no connection")

// errLost is the error of a request whose connection ended before its answer.
var errLost = errors.New("the server ended the connection without an answer")

// conn is a connection to a broker or a name server. Its methods may be called from any goroutine.
type conn struct {
	address string
	raw     net.Conn
	login   system.Credentials
	changed func() // called when the members of a group change
	writing sync.Mutex
	done    chan struct{} // closed when read has ended

	mu      sync.Mutex
	waiting map[int32]chan frame
	last    int32
	ended   bool
}

// dial connects. changed may be nil.
func (c *cluster) dial(ctx context.Context, address string, login system.Credentials,
	changed func()) (*conn, error) {
	raw, err := driver.Dial(ctx, "tcp", address, c.options.TLS)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	k := &conn{address: address, raw: raw, login: login, changed: changed,
		done: make(chan struct{}), waiting: make(map[int32]chan frame)}
	go k.read()
	return k, nil
}

// close ends the connection, and with it every request under way.
func (k *conn) close() error {
	k.cut()
	<-k.done
	return nil
}

func (k *conn) cut() { _ = k.raw.Close() }

func (k *conn) alive() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.ended
}

// read hands over answers until the connection ends.
func (k *conn) read() {
	defer close(k.done)
	in := bufio.NewReaderSize(k.raw, 64<<10)
	for {
		f, err := readFrame(in)
		if err != nil {
			break
		}
		if f.Flag&flagAnswer == 0 {
			if f.Code == askMembersChanged && k.changed != nil {
				k.changed()
			}
			continue
		}
		k.mu.Lock()
		to := k.waiting[f.Opaque]
		delete(k.waiting, f.Opaque)
		k.mu.Unlock()
		if to != nil {
			to <- f
		}
	}
	k.cut()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	for _, to := range k.waiting {
		close(to)
	}
	clear(k.waiting)
}

// pending is a request under way.
type pending struct {
	of     *conn
	opaque int32
	answer chan frame
}

// begin sends a request. If the error wraps errUnsent, the server has received nothing of it.
func (k *conn) begin(code int, with fields, body []byte) (pending, error) {
	to := make(chan frame, 1)
	k.mu.Lock()
	if k.ended {
		k.mu.Unlock()
		return pending{}, errUnsent
	}
	k.last++
	opaque := k.last
	k.waiting[opaque] = to
	k.mu.Unlock()
	p := pending{k, opaque, to}
	message, err := encode(&frame{Code: code, Language: languageGo, Version: protocolVersion,
		Opaque: opaque, Fields: k.sign(with, body), body: body})
	if err == nil {
		k.writing.Lock()
		_ = k.raw.SetWriteDeadline(time.Now().Add(askWithin)) // Write reports it
		_, err = k.raw.Write(message)
		k.writing.Unlock()
	}
	if err != nil {
		k.cut()
		p.forget()
		return p, fmt.Errorf("%w: %w", errLost, err)
	}
	return p, nil
}

func (p pending) forget() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.waiting, p.opaque)
}

// await returns the answer. An answer other than success is a *refusal.
func (p pending) await(ctx context.Context) (frame, error) {
	select {
	case f, there := <-p.answer:
		switch {
		case !there:
			return frame{}, errLost
		case f.Code != saysOK:
			return f, &refusal{f.Code, f.Remark}
		}
		return f, nil
	case <-ctx.Done():
		p.forget()
		return frame{}, ctx.Err()
	}
}

// ask sends a request and waits for its answer.
func (k *conn) ask(ctx context.Context, code int, with fields, body []byte) (frame, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	p, err := k.begin(code, with, body)
	if err != nil {
		return frame{}, err
	}
	return p.await(ctx)
}

// sign adds the user and the signature of the parameters' values, in the order of their names, and
// of the body.
func (k *conn) sign(with fields, body []byte) fields {
	if k.login.User == "" {
		return with
	}
	with = maps.Clone(with)
	if with == nil {
		with = fields{}
	}
	with["AccessKey"] = k.login.User
	sum := hmac.New(sha1.New, []byte(k.login.Password))
	for _, name := range slices.Sorted(maps.Keys(with)) {
		_, _ = io.WriteString(sum, with[name]) // a hash takes everything
	}
	_, _ = sum.Write(body)
	with["Signature"] = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return with
}

// encode returns a frame's bytes: both lengths, the header, the body.
func encode(f *frame) ([]byte, error) {
	header, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(header) > headerLengthMask {
		return nil, fmt.Errorf("a request's header of %d bytes is too long", len(header))
	}
	b := make([]byte, 0, lengthsBytes+len(header)+len(f.body))
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(header)+len(f.body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
	return append(append(b, header...), f.body...), nil
}

// readFrame reads the next frame.
func readFrame(in io.Reader) (f frame, err error) {
	var lengths [lengthsBytes]byte
	if _, err := io.ReadFull(in, lengths[:]); err != nil {
		return f, err
	}
	size, form := int64(binary.BigEndian.Uint32(lengths[:])), binary.BigEndian.Uint32(lengths[4:])
	header := int64(form & headerLengthMask)
	if byte(form>>24) != formJSON || size > frameMost || header > size-4 {
		return f, fmt.Errorf("no frame of RocketMQ's protocol in JSON: %d bytes, header %#x", size,
			form)
	}
	var content []byte
	for left := int(size - 4); left > 0; {
		at := len(content)
		content = slices.Grow(content, min(left, growth))[:at+min(left, growth)]
		if _, err := io.ReadFull(in, content[at:]); err != nil {
			return f, err
		}
		left -= len(content) - at
	}
	if err := json.Unmarshal(content[:header], &f); err != nil {
		return f, fmt.Errorf("no header of RocketMQ's protocol: %w", err)
	}
	f.body = content[header:]
	return f, nil
}

// bareNumber is a number in place of a name, which the servers' JSON has for a map's keys.
var bareNumber = regexp.MustCompile(`([{,])(\d+):`)

// standardJSON returns JSON whose names are all in quotes.
func standardJSON(b []byte) []byte { return bareNumber.ReplaceAll(b, []byte(`$1"$2":`)) }
