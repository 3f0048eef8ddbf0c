"""The routes of the message receivers."""

from starlette.routing import Route

from sandbox.sinks.accounts import ROUTES as ACCOUNT_ROUTES
from sandbox.sinks.message_templates import create_template, edit_template, list_templates
from sandbox.sinks.messaging import send_message
from sandbox.sinks.on_call import post_alertmanager, post_pagerduty, post_webhook
from sandbox.sinks.push import issue_token, send_native, send_web
from sandbox.sinks.sms import send_africas_talking, send_termii, send_twilio
from sandbox.sinks.traces import receive_spans

ROUTES = [
    Route("/otlp/v1/traces", receive_spans, methods=["POST"]),
    Route("/sms/api/sms/send", send_termii, methods=["POST"]),
    Route("/sms/version1/messaging", send_africas_talking, methods=["POST"]),
    Route("/sms/2010-04-01/Accounts/{account}/Messages.json", send_twilio, methods=["POST"]),
    Route("/messaging/{version}/{phone_number_id}/messages", send_message, methods=["POST"]),
    Route("/messaging/{version}/{account_id}/message_templates", list_templates, methods=["GET"]),
    Route("/messaging/{version}/{account_id}/message_templates", create_template, methods=["POST"]),
    Route("/messaging/{version}/{template_id}", edit_template, methods=["POST"]),
    Route("/push/oauth/token", issue_token, methods=["POST"]),
    Route("/push/v1/projects/{project}/messages:send", send_native, methods=["POST"]),
    Route("/push/web/{id}", send_web, methods=["POST"]),
    Route("/on-call/api/v2/alerts", post_alertmanager, methods=["POST"]),
    Route("/on-call/v2/enqueue", post_pagerduty, methods=["POST"]),
    Route("/on-call/webhook", post_webhook, methods=["POST"]),
    *ACCOUNT_ROUTES,
]
