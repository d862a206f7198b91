package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
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

// notANumber is how kong says that a number was expected.
var notANumber = regexp.MustCompile(`expected a valid \d+ bit u?int but got`)

// misread returns the sentence of an error in the command line, with the near name for an unknown
// flag or command, or else with the help to read.
func misread(err error) string {
	text, command := err.Error(), "plimsoll"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		node, named := selectedBy(parse.Context)
		if named {
			command = node.FullPath()
		}
		text, _, _ = strings.Cut(text, ", did you mean") // kong also suggests what is not near
		text = notANumber.ReplaceAllString(text, "must be a whole number, not")
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
