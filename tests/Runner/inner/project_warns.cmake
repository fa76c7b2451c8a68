message(WARNING "nobody planned this")
