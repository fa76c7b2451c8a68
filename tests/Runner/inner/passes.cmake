message(STATUS "as planned")
