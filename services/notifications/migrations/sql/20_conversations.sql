ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO campus_notifications_api;
CREATE POLICY conversations_of_their_user ON conversations USING (user_id = app_user_id());

ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON conversation_messages TO campus_notifications_api;
CREATE POLICY conversation_messages_of_their_user ON conversation_messages
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id() AND EXISTS (SELECT FROM conversations c WHERE c.id = conversation_id));

ALTER TABLE conversation_turns ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON conversation_turns TO campus_notifications_api;
CREATE POLICY conversation_turns_of_their_user ON conversation_turns USING (user_id = app_user_id());
