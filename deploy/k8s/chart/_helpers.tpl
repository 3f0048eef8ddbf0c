{{/* The name of the map of settings that each process reads: as kustomize's, with a hash of its content. */}}
{{- define "campus.map" -}}
{{- $root := index . 0 }}{{ $name := index . 1 -}}
{{- $data := include "campus.data" . | fromJson -}}
{{- $hash := dict "data" $data "kind" "ConfigMap" "name" "" | toJson | sha256sum | trunc 10 -}}
{{- $hash = $hash | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t" -}}
{{- printf "%s-%s" $name $hash -}}
{{- end }}

{{/* The content of a map: that of the overlay, and `settings` of the values. */}}
{{- define "campus.data" -}}
{{- $root := index . 0 }}{{ $name := index . 1 -}}
{{- $data := include (printf "campus.data.%s" $name) $root | fromYaml -}}
{{- range $key, $value := (get $root.Values.settings $name | default dict) }}{{ $_ := set $data $key $value }}{{ end -}}
{{- toJson $data -}}
{{- end }}

{{/* One of our images: the reference of the values, with another registry where one is set. */}}
{{- define "campus.image" -}}
{{- $root := index . 0 }}{{ $image := get $root.Values.images (index . 1) -}}
{{- if $root.Values.registry }}{{ printf "%s/%s" $root.Values.registry (base $image) }}{{ else }}{{ $image }}{{ end -}}
{{- end }}

{{- define "campus.pullSecrets" -}}
{{- $secrets := list }}{{ range .Values.pullSecrets }}{{ $secrets = append $secrets (dict "name" .) }}{{ end -}}
{{- toJson $secrets -}}
{{- end }}
