package report

// Style returns the style sheet of the pages, for pages of other packages.
func Style() string { return pageStyle() }
