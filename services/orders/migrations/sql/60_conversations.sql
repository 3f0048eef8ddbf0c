-- Visible to both parties, and to support through a dispute or a return of the order or of an order of the product.
ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversations TO campus_orders_api;
CREATE POLICY conversations_of_their_parties ON conversations FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own')))
    );
-- With the owner's rights: support sees orders by other permissions.
CREATE FUNCTION is_disputed_or_returned(conversation conversations) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM orders AS placed
        WHERE placed.buyer_id = conversation.buyer_id
          AND placed.vendor_id = conversation.vendor_id
          AND (
              placed.id = conversation.order_id
              OR EXISTS (
                  SELECT FROM order_items AS item
                  WHERE item.order_id = placed.id AND item.product_id = conversation.product_id
              )
          )
          AND (
              EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = placed.id)
              OR EXISTS (SELECT FROM return_requests AS request WHERE request.order_id = placed.id)
          )
    )
$$;
REVOKE EXECUTE ON FUNCTION is_disputed_or_returned FROM public;
GRANT EXECUTE ON FUNCTION is_disputed_or_returned TO campus_orders_api;
CREATE POLICY conversations_of_disputes_and_returns ON conversations FOR SELECT
    USING ((SELECT app_may('disputes:prepare')) AND is_disputed_or_returned(conversations));
-- With the owner's rights: support decides on reports and is no party of the conversation.
CREATE FUNCTION has_reported_message(conversation uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM conversation_messages AS message JOIN reports AS report ON report.subject_id = message.id
        WHERE message.conversation_id = conversation AND report.kind = 'message'
    )
$$;
REVOKE EXECUTE ON FUNCTION has_reported_message FROM public;
GRANT EXECUTE ON FUNCTION has_reported_message TO campus_orders_api;
CREATE POLICY conversations_of_reported_messages ON conversations FOR SELECT
    USING ((SELECT app_may('reports:decide')) AND has_reported_message(id));
CREATE TRIGGER conversations_refuse_leaving_buyer AFTER INSERT ON conversations
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
CREATE TRIGGER conversations_refuse_leaving_vendor AFTER INSERT ON conversations
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversation_messages TO campus_orders_api;
CREATE POLICY conversation_messages_with_their_conversation ON conversation_messages FOR SELECT
    USING (EXISTS (SELECT FROM conversations WHERE conversations.id = conversation_messages.conversation_id));

-- Visible with their message. An unsent image is visible to no one.
ALTER TABLE conversation_images ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversation_images TO campus_orders_api;
CREATE POLICY conversation_images_with_their_message ON conversation_images FOR SELECT
    USING (EXISTS (SELECT FROM conversation_messages AS message WHERE message.id = conversation_images.message_id));

-- Visible with their message. The buyer's checkout accepts them, each once.
ALTER TABLE conversation_offers ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (accepted_at, order_id) ON conversation_offers TO campus_orders_api;
CREATE POLICY conversation_offers_with_their_message ON conversation_offers FOR SELECT
    USING (EXISTS (SELECT FROM conversation_messages AS message WHERE message.id = conversation_offers.message_id));
CREATE POLICY conversation_offers_accepted_by_their_buyer ON conversation_offers FOR UPDATE
    USING (buyer_id = app_user_id() AND order_id IS NULL AND withdrawn_at IS NULL)
    WITH CHECK (buyer_id = app_user_id());

-- Written once.
REVOKE UPDATE, DELETE ON conversation_reads FROM campus_orders_service;
