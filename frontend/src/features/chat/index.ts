export { Composer } from "./components/composer";
export { ConversationList, conversationTitle } from "./components/conversation-list";
export { MessageList } from "./components/message-list";
export type { CardActions } from "./components/tool-card";
export { useChatActions, useConversation, useConversations } from "./queries";
export { useChatStore } from "./store";
