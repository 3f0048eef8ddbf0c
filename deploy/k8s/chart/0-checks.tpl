{{- $namespace := lookup "v1" "Namespace" "" .Release.Namespace }}
{{- if $namespace }}
{{- if ne (get ($namespace.metadata.labels | default dict) "pod-security.kubernetes.io/enforce") "restricted" }}
{{- fail (printf "The namespace does not enforce the restricted standard. Run: kubectl label namespace %s pod-security.kubernetes.io/enforce=restricted" .Release.Namespace) }}
{{- end }}
{{- if hasSuffix ".example" .Values.hosts.api }}
{{- fail "hosts.api is an example: set hosts.api, hosts.console and hosts.domain to your own." }}
{{- end }}
{{- $secret := lookup "v1" "Secret" .Release.Namespace "orders-database-owner" }}
{{- if and (eq .Values.through "processes") (not $secret) }}
{{- fail "The secrets do not exist yet. Install with --set through=servers first, then upgrade with --set through=accounts, then without it." }}
{{- end }}
{{- if and (ne .Values.through "processes") (lookup "apps/v1" "Deployment" .Release.Namespace "orders-api") }}
{{- fail (printf "The processes run: through=%s would delete them. Upgrade without it." .Values.through) }}
{{- end }}
{{- end }}
