export { AddServers } from "./components/add-servers";
export { ServerDetails } from "./components/server-details";
export { ServerList } from "./components/server-list";
export { readFile } from "./hooks/use-files";
export { takeLinks, useLinks } from "./hooks/use-links";
export { useServerAnnouncements } from "./hooks/use-server-announcements";
export { rowFromCopy } from "./lib/review";
export { useServerActions, useServers } from "./queries";
export { useServersStore } from "./store";
