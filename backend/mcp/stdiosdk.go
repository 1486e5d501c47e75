package mcp

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Connect, Read, Write, Close and SessionID make the connection a transport of the SDK.

func (c *stdioConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

func (c *stdioConn) SessionID() string { return "" }

func (c *stdioConn) Close() error {
	select {
	case <-c.ended:
	default:
		c.left.Store(true)
	}
	c.close()
	return nil
}

func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var frame []byte
		select {
		case frame = <-c.in:
		default:
			select {
			case frame = <-c.in:
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-c.ended:
				select {
				case frame = <-c.in:
				default:
					return nil, io.EOF
				}
			}
		}
		msg, err := jsonrpc.DecodeMessage(frame)
		if err == nil {
			return msg, nil
		}
		c.junk(frame)
		if e, ok := outline(frame); ok && e.method == nil {
			if _, isNum := number(e.id); isNum {
				if msg, err := jsonrpc.DecodeMessage(failure(string(e.id), jsonrpc.CodeInternalError, "the server's answer is not a valid JSON-RPC message")); err == nil {
					return msg, nil
				}
			}
		}
	}
}

func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	frame, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "server/discover" {
		c.probed.Store(true)
		if e, ok := outline(frame); ok && c.probe > 0 {
			c.watchProbe(string(e.id))
		}
	}
	return c.send(ctx, frame)
}

// watchProbe answers the probe for a server that does not: silence means an
// older revision, and the SDK would wait for ever.
func (c *stdioConn) watchProbe(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probeID = id
	time.AfterFunc(c.probe, func() {
		if c.answered(id) {
			c.silent.Store(true)
			c.pass(failure(id, jsonrpc.CodeMethodNotFound, "no answer"))
		}
	})
}
