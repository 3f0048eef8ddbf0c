# {name}

The overlay `{overlay}` of Campus Marketplace {version} as a chart, written by `deploy/k8s/chart.py`. Operators, labels
of namespaces and secrets come first: `deploy/k8s/README.md`. `values.schema.json` rejects an unknown value.

    kubectl create namespace campus
    kubectl label namespace campus pod-security.kubernetes.io/enforce=restricted
    helm install campus {name} -n campus -f values.yaml --set through=servers
    kubectl wait -n campus --for=condition=Ready --timeout=15m externalsecrets.external-secrets.io --all
    helm upgrade campus {name} -n campus -f values.yaml --set through=accounts
    helm upgrade campus {name} -n campus -f values.yaml --timeout 20m

The last command also upgrades: the migrations run as hooks before any process changes. `helm rollback` runs the
processes of the previous release on the migrated schema. `helm uninstall` deletes the databases; their backups stay.
