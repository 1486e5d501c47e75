package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type chartInput struct {
	Numbers []float64 `json:"numbers" jsonschema:"1 to 50 numbers"`
	Kind    string    `json:"kind,omitempty" jsonschema:"bar or line; bar if missing"`
}

const (
	chartWidth  = 640
	chartHeight = 360
	margin      = 40
)

func drawChart(_ context.Context, _ *sdk.CallToolRequest, in chartInput) (*sdk.CallToolResult, any, error) {
	if len(in.Numbers) < 1 || len(in.Numbers) > 50 {
		return nil, nil, fmt.Errorf("give 1 to 50 numbers, not %d", len(in.Numbers))
	}
	for _, n := range in.Numbers {
		if math.Abs(n) > 1e12 {
			return nil, nil, errors.New("a number is too large to draw; the limit is 1e12")
		}
	}
	if in.Kind != "" && in.Kind != "bar" && in.Kind != "line" {
		return nil, nil, fmt.Errorf("unknown kind %q; use bar or line", in.Kind)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, chart(in.Numbers, in.Kind == "line")); err != nil {
		return nil, nil, err
	}
	res := text("A chart of %d numbers.", len(in.Numbers))
	res.Content = append(res.Content, &sdk.ImageContent{MIMEType: "image/png", Data: b.Bytes()})
	return res, nil, nil
}

func chart(numbers []float64, line bool) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, chartWidth, chartHeight))
	fill := func(r image.Rectangle, c color.Color) {
		draw.Draw(img, r.Canon(), image.NewUniform(c), image.Point{}, draw.Src)
	}
	ink, bar, grid := color.RGBA{0x33, 0x3a, 0x45, 0xff}, color.RGBA{0x3b, 0x82, 0xf6, 0xff}, color.RGBA{0xe5, 0xe7, 0xeb, 0xff}
	fill(img.Bounds(), color.White)
	lo, hi := 0.0, 0.0
	for _, n := range numbers {
		lo, hi = min(lo, n), max(hi, n)
	}
	if lo == hi {
		hi = 1
	}
	y := func(v float64) int {
		return chartHeight - margin - int(math.Round((v-lo)/(hi-lo)*float64(chartHeight-2*margin)))
	}
	for i := range 5 {
		v := lo + (hi-lo)*float64(i)/4
		fill(image.Rect(margin, y(v), chartWidth-margin/2, y(v)+1), grid)
		digits(img, 2, y(v)-3, strconv.FormatFloat(v, 'g', 3, 64), ink)
	}
	step := float64(chartWidth-margin-margin/2) / float64(len(numbers))
	at := func(i int) int { return margin + int((float64(i)+0.5)*step) }
	half := max(1, int(step*0.35))
	for i, v := range numbers {
		if !line {
			fill(image.Rect(at(i)-half, y(v), at(i)+half, y(0)), bar)
			continue
		}
		fill(image.Rect(at(i)-3, y(v)-3, at(i)+4, y(v)+4), bar)
		if i > 0 {
			stroke(img, at(i-1), y(numbers[i-1]), at(i), y(v), bar)
		}
	}
	fill(image.Rect(margin, y(0), chartWidth-margin/2, y(0)+2), ink)
	return img
}

func stroke(img draw.Image, x0, y0, x1, y1 int, c color.Color) {
	n := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range n + 1 {
		x, y := x0+(x1-x0)*i/n, y0+(y1-y0)*i/n
		img.Set(x, y, c)
		img.Set(x, y+1, c)
	}
}

func abs(n int) int { return max(n, -n) }

// digits writes a number with a font of 3 by 5 points, each a bit of a row.
func digits(img draw.Image, x, y int, s string, c color.Color) {
	for _, r := range s {
		var rows [5]byte
		switch r {
		case '0':
			rows = [5]byte{7, 5, 5, 5, 7}
		case '1':
			rows = [5]byte{2, 6, 2, 2, 7}
		case '2':
			rows = [5]byte{7, 1, 7, 4, 7}
		case '3':
			rows = [5]byte{7, 1, 7, 1, 7}
		case '4':
			rows = [5]byte{5, 5, 7, 1, 1}
		case '5':
			rows = [5]byte{7, 4, 7, 1, 7}
		case '6':
			rows = [5]byte{7, 4, 7, 5, 7}
		case '7':
			rows = [5]byte{7, 1, 2, 2, 2}
		case '8':
			rows = [5]byte{7, 5, 7, 5, 7}
		case '9':
			rows = [5]byte{7, 5, 7, 1, 7}
		case '.':
			rows = [5]byte{0, 0, 0, 0, 2}
		case '-':
			rows = [5]byte{0, 0, 7, 0, 0}
		case '+':
			rows = [5]byte{0, 2, 7, 2, 0}
		case 'e':
			rows = [5]byte{7, 5, 7, 4, 7}
		}
		for dy, row := range rows {
			for dx := range 3 {
				if row&(4>>dx) != 0 {
					img.Set(x+dx, y+dy, c)
				}
			}
		}
		x += 4
	}
}
