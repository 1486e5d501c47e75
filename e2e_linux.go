//go:build linux && e2e

package main

// In test builds the web view can be driven through WebKitWebDriver. Our
// definition of the constructor wins over the library's, so that Wails makes a
// view under automation; nothing in Wails is changed.

/*
#cgo pkg-config: webkit2gtk-4.1
#include <webkit2/webkit2.h>

static WebKitWebView *view;

static WebKitWebView *on_create(WebKitAutomationSession *session, gpointer data) { return view; }

static void on_started(WebKitWebContext *context, WebKitAutomationSession *session, gpointer data) {
	WebKitApplicationInfo *info = webkit_application_info_new();
	webkit_application_info_set_name(info, "patchbay");
	webkit_application_info_set_version(info, 1, 0, 0);
	webkit_automation_session_set_application_info(session, info);
	webkit_application_info_unref(info);
	g_signal_connect(session, "create-web-view", G_CALLBACK(on_create), NULL);
}

GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
	WebKitWebContext *context = webkit_web_context_get_default();
	webkit_web_context_set_automation_allowed(context, TRUE);
	g_signal_connect(context, "automation-started", G_CALLBACK(on_started), NULL);
	view = WEBKIT_WEB_VIEW(g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context,
		"user-content-manager", manager, "is-controlled-by-automation", TRUE, NULL));
	return GTK_WIDGET(view);
}
*/
import "C"

import "github.com/wailsapp/wails/v2/pkg/options/linux"

// A screenshot through the driver hangs without the GPU process. The constants
// are exchanged in this version: this one selects "on demand".
const gpuPolicy = linux.WebviewGpuPolicyAlways
