// Package activemq is all there is to know about ActiveMQ Classic.
package activemq
