package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/metrics"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
)

type serveCommand struct {
	Dir       string `arg:"" optional:"" default:"runs" type:"path" help:"The folder whose experiments are shown, also those in folders within it."`
	Listen    string `default:"127.0.0.1:0" placeholder:"ADDR" help:"The address to listen on; port 0: a free one. An address that others can reach needs a certificate and a token."`
	TLSCert   string `name:"tls-cert" type:"path" placeholder:"FILE" help:"The certificate, in PEM."`
	TLSKey    string `name:"tls-key" type:"path" placeholder:"FILE" help:"The certificate's key, in PEM."`
	TokenFile string `type:"path" placeholder:"FILE" help:"The file with the token that readers must have; or set PLIMSOLL_TOKEN. Default: a random one, in the printed address."`
	Open      bool   `help:"Open the page in a browser."`
}

// Run serves the experiments of a folder until it is interrupted.
func (c *serveCommand) Run(con console) error {
	o := serve.Options{Page: pageOf, Listen: c.Listen}
	var err error
	if o.Token, err = c.token(); err != nil {
		return inputError{err}
	}
	if c.TLSCert != "" || c.TLSKey != "" {
		pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return inputError{fmt.Errorf("--tls-cert and --tls-key: %w", err)}
		}
		o.Certificate = &pair
	}
	told, stop := untilTold()
	defer stop()
	folder, err := serve.OpenFolder(c.Dir, o)
	if err != nil {
		return inputError{err}
	}
	folder.Handle(metricsAt, metrics.Handler(metrics.Options{Source: metrics.Below(c.Dir)}))
	fmt.Fprintf(con.err, "page: %s\n", folder.Address())
	if c.Open {
		openPage(con, folder.Address())
	}
	<-told.Done()
	return folder.Close()
}

// token returns the token that the user gave; "": none.
func (c *serveCommand) token() (string, error) {
	if c.TokenFile == "" {
		return os.Getenv(tokenEnv), nil
	}
	raw, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" {
		return "", errors.New("--token-file: the file is empty: write a token into it")
	}
	return token, nil
}
