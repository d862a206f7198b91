package sqs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// anyRegion is the region for which requests to an imitation of SQS are signed. It ignores the
// region.
const anyRegion = "us-east-1"

// errNotConnected is wrapped by errors of requests that were not sent.
var errNotConnected = errors.New("no connection")

// api sends requests to a service or server, and counts them.
type api struct {
	system.Settings
	client *awssqs.Client
	wire   *http.Transport
	meter  *meter
	peer   driver.Peer
	amazon bool // Amazon's own service
	region string
}

// newAPI returns an api. It connects to nothing yet.
func newAPI(ctx context.Context, o system.Options) (*api, error) {
	a := &api{
		Settings: o.Settings, region: o.Settings.Text(setRegion), amazon: isAmazon(o.Endpoints),
	}
	a.meter = newMeter(o, a.amazon)
	a.peer = driver.Peer{Endpoints: o.Endpoints, Protocol: "SQS", Encrypted: o.TLS != nil}
	if a.region == noRegion {
		a.region = anyRegion
	}
	encrypted := o.TLS
	options := awssqs.Options{
		Region: a.region, Retryer: aws.NopRetryer{}, // a repeated send is two messages
		DisableMessageChecksumValidation: !o.Settings.Bool(setChecksums),
	}
	if len(o.Endpoints) == 0 {
		a.peer.Endpoints, a.peer.Encrypted = []string{a.service()}, true
		encrypted = &tls.Config{MinVersion: tls.VersionTLS12}
	} else {
		if err := driver.CheckEndpoints(o.Endpoints, "localhost:9324"); err != nil {
			return nil, err
		}
		scheme := "http://"
		if o.TLS != nil {
			scheme = "https://"
		}
		options.BaseEndpoint = aws.String(scheme + o.Endpoints[0])
	}
	var err error
	if options.Credentials, err = a.credentials(ctx, o.Credentials); err != nil {
		return nil, err
	}
	a.wire = a.transport(encrypted, len(o.Endpoints) == 0)
	options.HTTPClient = &http.Client{Transport: &counted{next: a.wire, meter: a.meter}}
	a.client = awssqs.New(options)
	return a, nil
}

// isAmazon reports whether the endpoints are Amazon's. Without endpoints, the region names the
// service.
func isAmazon(endpoints []string) bool {
	if len(endpoints) == 0 {
		return true
	}
	host, _, _ := net.SplitHostPort(endpoints[0])
	for _, domain := range []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// transport allows as many connections as concurrent requests.
func (a *api) transport(encrypted *tls.Config, hosted bool) *http.Transport {
	dial := func(with *tls.Config) func(context.Context, string, string) (net.Conn, error) {
		return func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := driver.Dial(ctx, network, addr, with)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errNotConnected, err)
			}
			return conn, nil
		}
	}
	const idle = 1000 // idle connections that are kept
	t := &http.Transport{
		DialContext: dial(nil), DialTLSContext: dial(encrypted),
		MaxIdleConns: idle, MaxIdleConnsPerHost: idle, DisableCompression: true,
	}
	if hosted {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// credentials returns the target's credentials, or Amazon's usual chain. An imitation gets
// arbitrary ones.
func (a *api) credentials(ctx context.Context, given system.Credentials) (
	aws.CredentialsProvider, error,
) {
	switch {
	case given.User != "" || given.Password != "":
		return credentials.NewStaticCredentialsProvider(given.User, given.Password, ""), nil
	case !a.amazon:
		return credentials.NewStaticCredentialsProvider("plimsoll", "plimsoll", ""), nil
	}
	chain, err := config.LoadDefaultConfig(ctx, config.WithRegion(a.region))
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration, such as AWS_PROFILE and "+
			"~/.aws/config: %w", err)
	}
	return chain.Credentials, nil
}

// service returns the name of Amazon's service in the region.
func (a *api) service() string { return "Amazon SQS, " + a.region }

// hosted reports whether the region names the service.
func (a *api) hosted() bool { return a.amazon && a.peer.Endpoints[0] == a.service() }

// at returns the name of the service or server.
func (a *api) at() string { return a.peer.At() }

func (a *api) close() { a.wire.CloseIdleConnections() }

// ping looks up a queue, which needs a login but no existing queue. It changes nothing, so it
// retries once if the connection breaks while the answer is read.
func (a *api) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	ask := func() error {
		const most = 1
		_, err := a.client.ListQueues(ctx, &awssqs.ListQueuesInput{MaxResults: aws.Int32(most)})
		return err
	}
	err := ask()
	if statusOf(err) == http.StatusOK && broken(err) {
		err = ask()
	}
	return a.explain(err)
}

// broken reports whether a connection ended before the answer did.
func broken(err error) bool {
	return driver.Broken(err) || errors.Is(err, net.ErrClosed)
}

// codeOf returns the code of a refusal, or "".
func codeOf(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}

// statusOf returns the HTTP status of an answer, or 0 without an answer.
func statusOf(err error) int {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.HTTPStatusCode()
	}
	return 0
}

func isMissing(err error) bool {
	var missing *types.QueueDoesNotExist
	return errors.As(err, &missing) || strings.HasSuffix(codeOf(err), "NonExistentQueue")
}

// isThrottled reports whether a service refused a request because there were too many requests.
func isThrottled(err error) bool {
	code := codeOf(err)
	return strings.Contains(code, "Throttl") || code == "TooManyRequestsException"
}

// explain returns an error that says in one sentence why a request failed.
func (a *api) explain(err error) error {
	if err == nil {
		return nil
	}
	var dns *net.DNSError
	if a.hosted() && errors.As(err, &dns) {
		return fmt.Errorf("there is no host %s: correct the region (%s), or the network: %w",
			dns.Name, a.region, err)
	}
	if told := a.peer.Explain(err); told != nil {
		return told
	}
	switch code := codeOf(err); {
	case isMissing(err):
		return fmt.Errorf("there is no such queue at %s: the topic was deleted, is in another "+
			"region, or an imitation of SQS has lost it: %w", a.at(), err)
	case strings.HasPrefix(code, "ExpiredToken"), code == "RequestExpired":
		return fmt.Errorf("the AWS session has expired: log in again (aws sso login), or renew "+
			"AWS_SESSION_TOKEN: %w", err)
	case isLoginCode(code):
		return a.peer.RefusesLogin(err, ", or the AWS profile")
	case strings.HasPrefix(code, "AccessDenied"), code == "AuthorizationError":
		return fmt.Errorf("the user lacks rights at %s that a run needs: allow sqs:* on queues "+
			"plimsoll-*, and sqs:ListQueues: %w", a.at(), err)
	case code != "" && code != foreignCode:
		return err
	}
	return a.explainStranger(err)
}

func isLoginCode(code string) bool {
	for _, part := range []string{
		"UnrecognizedClient", "InvalidClientTokenId", "InvalidAccessKeyId", "SignatureDoesNotMatch",
		"IncompleteSignature", "AuthFailure", "InvalidSecurity", "MissingAuthenticationToken",
	} {
		if strings.Contains(code, part) {
			return true
		}
	}
	return false
}

// foreignCode is the library's code for an answer that it cannot read.
const foreignCode = "UnknownError"

// explainStranger is explain for answers of other servers, and for logins that were never sent.
func (a *api) explainStranger(err error) error {
	text := err.Error()
	var reading *smithy.DeserializationError
	var sending *smithyhttp.RequestSendError
	switch {
	case strings.Contains(text, "retrieve credentials"), strings.Contains(text, "get identity"),
		strings.Contains(text, "get credentials"):
		return fmt.Errorf("no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID "+
			"and AWS_SECRET_ACCESS_KEY, or give the target credentials: %w", err)
	case broken(err), strings.Contains(text, "malformed HTTP"), errors.As(err, &sending):
		return a.peer.HungUp(err)
	case errors.As(err, &reading), codeOf(err) == foreignCode:
		return fmt.Errorf("%s answers, but not like SQS: correct the endpoint, and give the "+
			"target tls if it requires TLS: %w", a.at(), err)
	}
	return err
}
