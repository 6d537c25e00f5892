// Placeholder while the layer is being written.
