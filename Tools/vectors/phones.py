def write_all(source, target):
    pass
