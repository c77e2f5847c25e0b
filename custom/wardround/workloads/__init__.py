"""One folder a workload: how a site loads its data, the network, the loss, and how it is scored."""
