package strict

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
)

// Table returns a reader of the rows of a CSV file. Lines that begin with # are comments. JSON is
// an error, with the remedy: what to write instead.
func Table(name string, src []byte, remedy string) (*csv.Reader, error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	if text := bytes.TrimSpace(src); len(text) > 0 && (text[0] == '{' || text[0] == '[') &&
		json.Valid(text) {
		return nil, fmt.Errorf("%s is JSON, which is not read: %s", name, remedy)
	}
	rows := csv.NewReader(bytes.NewReader(src))
	rows.Comment, rows.FieldsPerRecord = '#', -1
	return rows, nil
}

// RowError returns the sentence on an error of the reader of a Table. The reader does not count
// columns, so only quotation marks can be wrong.
func RowError(name string, err error) error {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return fmt.Errorf("%s:%d: has a quotation mark without its other one: write quotation marks "+
		"around a whole field, and double each one inside it", name, wrong.StartLine)
}
