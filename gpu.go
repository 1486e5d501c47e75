//go:build !e2e

package main

import "github.com/wailsapp/wails/v2/pkg/options/linux"

// The page draws no 3D, and the GPU costs memory and, with some drivers, the picture.
const gpuPolicy = linux.WebviewGpuPolicyNever
