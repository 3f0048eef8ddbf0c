"""The documentation site: docs/guides, docs/contract and docs/reference as static pages, which the gateway serves under
/guides.
"""
