package command

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// helping returns the arguments with --help where they ask for help without it: none at all, and
// help, alone or before the name of a command.
func helping(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// withDefault returns the help of a flag or an argument, with its default.
func withDefault(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if v.Default == "" {
		return text
	}
	return text + " Default: " + v.Default + "."
}

// notANumber is how kong says that a number was expected, and takenForFlag that a value begins like
// a flag.
var (
	notANumber   = regexp.MustCompile(`expected a valid (\d+) bit (u?)int but got ("?(\d*).*)`)
	takenForFlag = regexp.MustCompile(`expected \w+ value but got "([^"]*)" \(([^)]*)\).*`)
)

// plainly says in plain words what kong says of a value.
func plainly(text string) string {
	if m := notANumber.FindStringSubmatch(text); m != nil {
		bits, _ := strconv.Atoi(m[1]) // digits
		if m[2] == "" {
			bits--
		}
		most := ""
		if m[4] != "" {
			most = fmt.Sprint(" up to ", uint64(math.MaxUint64)>>(64-bits))
		}
		return strings.Replace(text, m[0], "must be a whole number"+most+", not "+m[3], 1)
	}
	if m := takenForFlag.FindStringSubmatch(text); m != nil {
		says := "needs a value, and " + m[1] + " is read as a flag"
		if m[2] == "<EOL>" {
			says = "needs a value"
		} else if len(m[1]) > 1 && strings.ContainsAny(m[1][1:2], ".0123456789") {
			says = "must not be negative, and " + m[1] + " is"
		}
		return strings.Replace(text, m[0], says, 1)
	}
	return text
}

// misread returns the sentence of an error in the command line, with the near name for an unknown
// flag or command, or else with the help to read.
func misread(err error) string {
	text, command := err.Error(), "plimsoll"
	if parse, is := errors.AsType[*kong.ParseError](err); is && parse.Context != nil {
		node, named := selectedBy(parse.Context)
		if named {
			command = node.FullPath()
		}
		text, _, _ = strings.Cut(text, ", did you mean") // kong also suggests what is not near
		text = plainly(text)
		near := ""
		if flag, is := strings.CutPrefix(text, "unknown flag --"); is {
			if near = strict.Nearest(flag, flagNames(node)); near != "" {
				near = "--" + near
			}
		} else if word, is := strings.CutPrefix(text, "unexpected argument "); is {
			near = strict.Nearest(word, childNames(node, named))
		}
		if near != "" {
			return text + ": did you mean " + near + "?"
		}
	}
	return text + ": see '" + command + " --help'"
}

// selectedBy returns the command of a command line, and whether it is named there.
func selectedBy(c *kong.Context) (node *kong.Node, named bool) {
	if node = c.Selected(); node == nil {
		return c.Model.Node, false
	}
	return node, slices.Contains(c.Args, node.Name)
}

func flagNames(node *kong.Node) (names []string) {
	for _, flag := range (&position{node: node}).flags() {
		names = append(names, flag.Name)
	}
	return names
}

// childNames returns the names of a command's commands, or those beside it if it is not named.
func childNames(node *kong.Node, named bool) (names []string) {
	if !named && node.Parent != nil {
		node = node.Parent
	}
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}
